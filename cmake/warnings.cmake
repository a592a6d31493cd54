# The warnings that the project's own code is held to; errors only where the project is built by
# itself. g++ 12 sees one half of how Asio allocates the frames of coroutines and takes the other
# half for a mismatch; clang++ still looks for mismatches.
function(leasehold_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
        $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
        $<$<BOOL:${LEASEHOLD_WERROR}>:-Werror>)
endfunction()
