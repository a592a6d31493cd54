module leasehold/benchmark/rueidislock

go 1.21

require github.com/redis/rueidis v1.0.79
