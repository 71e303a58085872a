# Owns one PostgreSQL server in the directory $1, with the programs in $2, until
# its standard input ends. The word crash on it kills the server and starts it
# again on what is on the disk. The log is kept in $1/log.
dir=$1 bin=$2
umask 077
"$bin/initdb" -D "$dir/data" -U pinfold -A trust -E UTF8 --no-locale --no-sync --no-instructions >"$dir/log" 2>&1 </dev/null
while :; do
	"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c dynamic_shared_memory_type=mmap -c max_connections=200 -c shared_buffers=16MB >>"$dir/log" 2>&1 </dev/null &
	server=$!
	read -r word || word=
	# At once, with whatever is in flight; and again, because a server that was
	# only just started still ignores it.
	while kill -QUIT $server 2>/dev/null; do sleep 0.05; done
	wait $server
	[ "$word" = crash ] || break
	echo >>"$dir/crashes"
done
cd /
rm -rf "$dir"
