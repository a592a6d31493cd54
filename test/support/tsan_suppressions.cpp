// What ThreadSanitizer reports of libraries that were not compiled with it, and so of memory whose
// atomics it does not see.

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions()
{
    // OpenSSL from 3.5 on sets its tables up without locks, when two threads make their first
    // connection at once.
    return "race:libcrypto.so\n";
}
