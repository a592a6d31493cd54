# The warnings for the project's own code; they are errors only if the project is built alone
# (LEASEHOLD_WERROR). g++ 12 reports a false mismatch in the way Asio allocates the frames of
# coroutines; clang++ still checks for mismatches.
function(leasehold_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
        $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
        $<$<BOOL:${LEASEHOLD_WERROR}>:-Werror>)
endfunction()
