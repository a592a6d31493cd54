// Not guarded: makes <leasehold/detail/export.hpp> read again.
#undef LEASEHOLD_DETAIL_EXPORT_HPP
#undef LEASEHOLD_EXPORT
#undef LEASEHOLD_REDIS_EXPORT
#undef LEASEHOLD_TESTING_EXPORT
