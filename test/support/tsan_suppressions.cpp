// Suppresses reports of ThreadSanitizer about libraries that were not compiled with it, whose
// atomics it does not see.

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions()
{
    // OpenSSL from 3.5 on initializes its tables without locks when two threads make their first
    // connection at once.
    return "race:libcrypto.so\n";
}
