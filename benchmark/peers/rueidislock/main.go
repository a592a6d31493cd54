// rueidislock with one server. See README.md in the folder above.
package main

import (
	"context"
	"os"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

var locks = open()

// [lock]
func open() rueidislock.Locker {
	option := rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{"127.0.0.1:" + os.Args[1]}},
		KeyValidity:  lease, // 0: the default
	}
	if len(os.Args) > 3 && os.Args[3] == "one_key" {
		// As its documentation recommends for one server, from Redis 7.0.5 on. After a reply that is
		// later than TryNextAfter, the waiter waits forever. The default, 20 ms, is for clients
		// with another key to try.
		option.KeyMajority = 1
		option.NoLoopTracking = true
		option.TryNextAfter = 5 * time.Second
	}
	locker, err := rueidislock.NewLocker(option)
	must(err)
	return locker
}

type lock struct{ name string }

func named(number int) lock { return lock{name(number)} }

func (l lock) acquire() func() {
	_, release, err := locks.WithContext(context.Background(), l.name)
	must(err)
	return release
}

// [/lock]

func (l lock) hold() func() { return l.acquire() }

func main() { serve("rueidislock:0:" + name(0)) }
