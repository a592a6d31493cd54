// A peer of the interoperation tests: concurrency.Mutex of etcd's client. See
// test/interop/peer.hpp.
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var (
	session = connect(os.Args[1])
	root    = os.Args[2]
	held    = map[string]*concurrency.Mutex{}
)

// [connect]
func connect(endpoint string) *concurrency.Session {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	require(err == nil)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(30))
	require(err == nil)
	return session
}

// [/connect]

// [lock]
func lock(name string, _, wait int) bool {
	mutex := concurrency.NewMutex(session, root+"/"+name)
	waiting, cancel := context.WithTimeout(context.Background(),
		time.Duration(wait)*time.Millisecond)
	defer cancel()
	if mutex.Lock(waiting) != nil {
		return false
	}
	held[name] = mutex
	return true
}

func unlock(name string) bool {
	err := held[name].Unlock(context.Background())
	delete(held, name)
	return err == nil
}

// [/lock]

func increment(counter string) {
	text, err := os.ReadFile(counter)
	require(err == nil)
	value, _ := strconv.Atoi(string(text))
	time.Sleep(time.Millisecond)
	require(os.WriteFile(counter, []byte(strconv.Itoa(value+1)), 0o600) == nil)
}

func main() { serve() }
