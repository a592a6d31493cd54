// Has no include guard: it makes the compiler read <leasehold/detail/export.hpp> again.
#undef LEASEHOLD_DETAIL_EXPORT_HPP
#undef LEASEHOLD_EXPORT
#undef LEASEHOLD_REDIS_EXPORT
#undef LEASEHOLD_POSTGRES_EXPORT
#undef LEASEHOLD_MYSQL_EXPORT
#undef LEASEHOLD_ZOOKEEPER_EXPORT
#undef LEASEHOLD_ETCD_EXPORT
#undef LEASEHOLD_TESTING_EXPORT
