// A peer of the interoperation tests: redsync with one server, or with several, of which a majority
// has to grant. See test/interop/peer.hpp.
package main

import (
	"context"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

var (
	sockets = os.Args[1 : len(os.Args)-1]
	client  = redis.NewClient(&redis.Options{Network: "unix", Addr: sockets[0]})
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

func increment(key string) {
	value, _ := client.Get(context.Background(), key).Int()
	require(client.Set(context.Background(), key, value+1, 0).Err() == nil)
}

func main() { serve() }
