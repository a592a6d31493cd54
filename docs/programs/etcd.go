// A lock in etcd, beside which ../migrate/etcd.md shows this library's: etcd [ENDPOINT]
// No test runs it: it needs go.etcd.io/etcd/client/v3.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// [lock]
func sell(client *clientv3.Client) error {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(15))
	if err != nil {
		return err
	}
	defer session.Close()
	stock := concurrency.NewMutex(session, "stock:sku-42")
	waiting, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := stock.Lock(waiting); err != nil {
		return err
	}
	fmt.Println("lock acquired, revision", stock.Header().Revision)
	return stock.Unlock(context.Background())
}

// [/lock]

func main() {
	endpoint := "127.0.0.1:2379"
	if len(os.Args) > 1 {
		endpoint = os.Args[1]
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err == nil {
		err = sell(client)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
