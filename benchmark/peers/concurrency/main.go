// The jobs of benchmark/stores.cpp with concurrency.Mutex of etcd. Usage: peer ENDPOINT SECONDS
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const together = 20

// The first pairs are slower.
const warmUp = time.Second

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func connect(endpoint string) *concurrency.Session {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	must(err)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(10))
	must(err)
	return session
}

func mutex(session *concurrency.Session, name string) *concurrency.Mutex {
	return concurrency.NewMutex(session, "concurrency/"+name)
}

// Acquires and releases for this time. Returns the times of acquire and release together.
func pairs(lock *concurrency.Mutex, length time.Duration) []time.Duration {
	var times []time.Duration
	begin := time.Now()
	for end := begin.Add(length); begin.Before(end); {
		must(lock.Lock(context.Background()))
		must(lock.Unlock(context.Background()))
		now := time.Now()
		times = append(times, now.Sub(begin))
		begin = now
	}
	return times
}

// Two sessions take one lock in turn. Returns the times from a release to the next grant.
func turns(sessions []*concurrency.Session, length time.Duration) []time.Duration {
	end := time.Now().Add(length)
	start := time.Now()
	var left atomic.Int64 // since the start
	return inTasks(len(sessions), func(task int) []time.Duration {
		shared := mutex(sessions[task], "handoff")
		var times []time.Duration
		for time.Now().Before(end) {
			must(shared.Lock(context.Background()))
			if before := left.Load(); before != 0 {
				times = append(times, time.Since(start)-time.Duration(before))
			}
			left.Store(int64(time.Since(start)))
			must(shared.Unlock(context.Background()))
		}
		return times
	})
}

func inTasks(count int, job func(task int) []time.Duration) []time.Duration {
	results := make([][]time.Duration, count)
	var running sync.WaitGroup
	for i := range results {
		running.Add(1)
		go func() {
			defer running.Done()
			results[i] = job(i)
		}()
	}
	running.Wait()
	var all []time.Duration
	for _, each := range results {
		all = append(all, each...)
	}
	return all
}

func median(times []time.Duration) float64 {
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	return float64(times[len(times)/2].Nanoseconds()) / 1e6
}

func main() {
	endpoint := os.Args[1]
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	must(err)
	length := time.Duration(seconds * float64(time.Second))
	session := connect(endpoint)
	each := func(length time.Duration) func(int) []time.Duration {
		return func(task int) []time.Duration {
			return pairs(mutex(session, "key"+strconv.Itoa(task)), length)
		}
	}
	inTasks(together, each(warmUp))
	fmt.Printf("latency average = %.4f ms\n", median(pairs(mutex(session, "alone"), length)))
	fmt.Printf("throughput = %.1f\n", float64(len(inTasks(together, each(length))))/seconds)
	both := []*concurrency.Session{session, connect(endpoint)}
	turns(both, warmUp)
	fmt.Printf("handoff = %.4f ms\n", median(turns(both, length)))
}
