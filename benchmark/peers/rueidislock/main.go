// rueidislock with one server. See README.md in the folder above.
package main

import (
	"context"
	"os"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

var locks = open()

func open() rueidislock.Locker {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{"127.0.0.1:" + os.Args[1]}},
		KeyValidity:    lease, // its own when 0
		KeyMajority:    1,     // one server: no majority to be had
		NoLoopTracking: true,  // as recommended from Redis 7.0.5 on
	})
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

func (l lock) hold() func() { return l.acquire() }

func main() { serve("rueidislock:0:" + name(0)) }
