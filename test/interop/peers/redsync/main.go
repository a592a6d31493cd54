// A peer of the interoperation tests: redsync with one server, or with several, of which a majority
// has to grant. See test/interop/peer.hpp.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

var (
	sockets = os.Args[1 : len(os.Args)-1]
	locks   = locksOf(sockets)
	held    = map[string]*redsync.Mutex{}
)

// [locks_of]
func locksOf(sockets []string) *redsync.Redsync {
	var pools []pool.Pool
	for _, each := range sockets {
		server := redis.NewClient(&redis.Options{Network: "unix", Addr: each})
		pools = append(pools, goredis.NewPool(server))
	}
	return redsync.New(pools...)
}

// [/locks_of]

const pause = 20 * time.Millisecond

// [lock]
func lock(name string, lease, wait int) bool {
	mutex := locks.NewMutex(name,
		redsync.WithExpiry(time.Duration(lease)*time.Millisecond),
		redsync.WithTries(1+wait/int(pause/time.Millisecond)),
		redsync.WithRetryDelay(pause))
	if mutex.Lock() != nil {
		return false
	}
	held[name] = mutex
	return true
}

func unlock(name string) bool {
	ok, err := held[name].Unlock()
	delete(held, name)
	return ok && err == nil
}

// [/lock]

func require(ok bool) {
	if !ok {
		panic("not so")
	}
}

func main() {
	context := context.Background()
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: sockets[0]})
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		bytes, err := hex.DecodeString(words[1])
		require(err == nil)
		name := string(bytes)
		number := func(place int) int {
			value, err := strconv.Atoi(words[place])
			require(err == nil)
			return value
		}
		said := map[bool]string{true: "unlocked", false: "lost"}
		switch words[0] {
		case "lock":
			said = map[bool]string{true: "locked", false: "busy"}
			fmt.Println(said[lock(name, number(2), number(3))])
		case "unlock":
			fmt.Println(said[unlock(name)])
		case "count":
			for left := number(3); left > 0; left-- {
				require(lock(name, 10_000, 60_000))
				value, _ := client.Get(context, words[2]).Int()
				require(client.Set(context, words[2], value+1, 0).Err() == nil)
				require(unlock(name))
			}
			fmt.Println("counted")
		}
	}
}
