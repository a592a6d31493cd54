# Starts redis-server processes that end with the script that sources this. Needs bash.

for program in redis-server redis-cli; do
  if ! command -v "$program" >/dev/null; then
    printf 'error: %s is not installed; on Debian and Ubuntu: apt-get install redis-server\n' \
      "$program" >&2
    exit 1
  fi
done

servers=() # process ids
folder=$(mktemp -d "${TMPDIR:-/tmp}/leasehold-redis.XXXXXX")
stop_servers() {
  local each look
  for each in ${servers[@]+"${servers[@]}"}; do
    kill -KILL "$each" 2>/dev/null || true
  done
  # `wait` does not apply to disowned processes, which the shell reaps by itself.
  for each in ${servers[@]+"${servers[@]}"}; do
    for ((look = 0; look < 1000; ++look)); do
      kill -0 "$each" 2>/dev/null || break
      sleep 0.01
    done
  done
  rm -rf "$folder"
}
trap stop_servers EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# If the script is killed without a chance to clean up, the servers end, too. They have a session of
# their own, so that Ctrl-C reaches only the command.
wrapper=(setsid)
! setpriv --pdeathsig KILL true 2>/dev/null || wrapper=(setpriv --pdeathsig KILL setsid)

# start_server NAME ARGUMENT...: a redis-server in a folder of its own, on a free port of 127.0.0.1
# and on a socket in its folder. Sets `port` and `server`.
# Redis cannot choose a free port by itself. It ends at once if the port is in use.
start_server() {
  local name=$1 home=$folder/$1 try look
  shift
  mkdir -p "$home"
  for ((try = 0; try < 20; ++try)); do
    port=$((20000 + RANDOM % 12000))
    "${wrapper[@]}" redis-server "$@" --port "$port" --bind 127.0.0.1 \
      --unixsocket "$home/socket" --dir "$home" \
      --loglevel warning --logfile "$home/log" </dev/null >/dev/null 2>&1 &
    server=$!
    disown "$server" # the shell then does not report its end
    for ((look = 0; look < 1000; ++look)); do
      if redis-cli -s "$home/socket" ping 2>/dev/null | grep -q PONG; then
        servers+=("$server")
        return
      fi
      kill -0 "$server" 2>/dev/null || break
      sleep 0.02
    done
    kill -KILL "$server" 2>/dev/null || true
  done
  printf 'error: redis-server does not start (%s):\n' "$name" >&2
  tail -n 3 "$home/log" >&2 || true
  exit 1
}

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for() {
  local what=$1 look
  shift
  for ((look = 0; look < 600; ++look)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.05
  done
  printf 'error: waited for half a minute for %s\n' "$what" >&2
  exit 1
}
