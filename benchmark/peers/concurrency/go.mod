module leasehold/benchmark/concurrency

go 1.24

require go.etcd.io/etcd/client/v3 v3.6.16
