# The warnings that the project's own code is held to; errors only where the project is built by
# itself.
function(leasehold_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
        $<$<BOOL:${LEASEHOLD_WERROR}>:-Werror>)
endfunction()
