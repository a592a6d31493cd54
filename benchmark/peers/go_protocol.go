// The common part of the peers in Go. README.md in this folder describes their protocol. A peer has
// named(number), whose acquire and hold return the release function.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var lease = leaseTime()

func leaseTime() time.Duration {
	ms, err := strconv.Atoi(os.Args[2])
	must(err)
	return time.Duration(ms) * time.Millisecond
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func name(number int) string { return "peers:" + strconv.Itoa(number) }

type histogram map[int]int

func (h histogram) add(took time.Duration) {
	h[int(math.Round(100*math.Log(math.Max(float64(took)/1e3, 0.1))))]++
}

func (h histogram) addAll(other histogram) {
	for step, count := range other {
		h[step] += count
	}
}

type cycles struct {
	Count  int       `json:"count"`
	Waits  histogram `json:"waits"`
	Cycles histogram `json:"cycles"`
}

func cycle(one lock, end time.Time) cycles {
	seen := cycles{0, histogram{}, histogram{}}
	for {
		asked := time.Now()
		if !asked.Before(end) {
			return seen
		}
		release := one.acquire()
		got := time.Now()
		seen.Waits.add(got.Sub(asked))
		release()
		seen.Cycles.add(time.Since(asked))
		if got.Before(end) {
			seen.Count++
		}
	}
}

// The maximum number of concurrent calls; 0: no limit.
func times(count, atOnce int, do func(number int)) {
	if atOnce == 0 || atOnce > count {
		atOnce = count
	}
	var all sync.WaitGroup
	for first := 0; first < atOnce; first++ {
		all.Add(1)
		go func(first int) {
			defer all.Done()
			for i := first; i < count; i += atOnce {
				do(i)
			}
		}(first)
	}
	all.Wait()
}

func say(what any) {
	text, err := json.Marshal(what)
	must(err)
	fmt.Println(string(text))
}

func serve(key string) {
	var held []func()
	say(map[string]string{"key": key})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		number := func(place int) int {
			value, err := strconv.Atoi(words[place])
			must(err)
			return value
		}
		at := time.Now()
		switch words[0] {
		case "cycle":
			keys, tasks := number(1), number(2)
			seconds, err := strconv.ParseFloat(words[3], 64)
			must(err)
			end := at.Add(time.Duration(seconds * float64(time.Second)))
			all := cycles{0, histogram{}, histogram{}}
			var guard sync.Mutex
			times(tasks, 0, func(i int) {
				seen := cycle(named(i%keys), end)
				guard.Lock()
				defer guard.Unlock()
				all.Count += seen.Count
				all.Waits.addAll(seen.Waits)
				all.Cycles.addAll(seen.Cycles)
			})
			say(all)
			continue
		case "hold":
			held = make([]func(), number(1))
			times(len(held), 64, func(i int) { held[i] = named(i).hold() })
			at = time.Now()
		case "once":
			times(number(1), 0, func(int) { named(0).acquire()() })
			at = time.Now()
		case "drop":
			times(len(held), 64, func(i int) { held[i]() })
			held = nil
		}
		say(map[string]int64{"at": at.UnixMicro()})
	}
}
