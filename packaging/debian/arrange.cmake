# Follows Debian's conventions: the completions are in the folder of its zsh, and manuals and
# changelogs are compressed without a time stamp.
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share")
if(EXISTS "${share}/zsh/site-functions")
    file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
endif()
file(GLOB_RECURSE files "${share}/man/man*/*" "${share}/doc/*/changelog")
foreach(file IN LISTS files)
    execute_process(COMMAND gzip -9n "${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
