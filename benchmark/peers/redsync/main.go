// redsync with one server, over go-redis. See README.md in the folder above.
package main

import (
	"math"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

var locks = redsync.New(goredis.NewPool(
	redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})))

type lock struct{ mutex *redsync.Mutex }

func named(number int) lock {
	options := []redsync.Option{redsync.WithTries(math.MaxInt)} // the default of 32 tries is too small
	if lease > 0 {
		options = append(options, redsync.WithExpiry(lease))
	}
	return lock{locks.NewMutex(name(number), options...)}
}

func (l lock) acquire() func() {
	must(l.mutex.Lock())
	return func() {
		_, err := l.mutex.Unlock()
		must(err)
	}
}

// Renews the lock, because redsync does not do it by itself.
func (l lock) hold() func() {
	release := l.acquire()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		period := time.NewTicker(time.Until(l.mutex.Until()) / 3)
		defer period.Stop()
		for {
			select {
			case <-stop:
				return
			case <-period.C:
				if ok, err := l.mutex.Extend(); !ok || err != nil {
					return // the driver detects the loss
				}
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		release()
	}
}

func main() { serve(name(0)) }
