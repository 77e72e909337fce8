#!/usr/bin/env bash
# Start a Dask cluster whose processes communicate over TLS: a scheduler and several workers, each in its own process.
#
#     ./start.sh DIRECTORY [WORKERS]
#
# keeps the keys, logs and address in DIRECTORY, and runs until you stop it (Ctrl-C, or kill). In another shell:
#
#     export DASK_CONFIG=DIRECTORY
#     python -c 'from distributed import Client; print(Client(scheduler_file="DIRECTORY/scheduler.json"))'
#
# HOST is the address of this machine for others (127.0.0.1: this machine only). PYTHON is an interpreter
# with separatrix[dask] and, for the keys, cryptography. THREADS and MEMORY are the limits of one worker.
set -euo pipefail
directory=${1:?usage: start.sh DIRECTORY [WORKERS]}
workers=${2:-3}
host=${HOST:-127.0.0.1}
python=${PYTHON:-python}

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
"$python" "$(dirname "${BASH_SOURCE[0]}")/keys.py" "$directory" >/dev/null
export DASK_CONFIG=$directory
rm -f "$directory/scheduler.json"

processes=()
stop() {
    trap - EXIT INT TERM
    if ((${#processes[@]})); then kill "${processes[@]}" 2>/dev/null || true; fi
    wait
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$python" -m dask scheduler --protocol tls --host "$host" --port "${PORT:-0}" --no-dashboard \
    --scheduler-file "$directory/scheduler.json" >"$directory/scheduler.log" 2>&1 &
processes+=($!)
for ((k = 1; k <= workers; k++)); do
    "$python" -m dask worker --protocol tls --host "$host" --scheduler-file "$directory/scheduler.json" \
        --name "worker-$k" --nthreads "${THREADS:-1}" --memory-limit "${MEMORY:-1GB}" --no-dashboard \
        --local-directory "$directory/scratch" >"$directory/worker-$k.log" 2>&1 &
    processes+=($!)
done
echo "A scheduler and $workers workers; their address is in $directory/scheduler.json, their logs beside it."
wait -n || true
echo "One of the processes has ended; see the logs in $directory." >&2
exit 1
