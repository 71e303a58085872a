# write-ahead logging: shared memory by mmap, locks, two writers and a reader
db=work/a.db
sqlite3 $db 'pragma journal_mode=wal; create table t(k integer primary key, v text);' >/dev/null
fill() {
	i=$1
	while [ "$i" -lt "$2" ]; do
		echo "insert into t values($i, 'v$i');"
		i=$((i + 1))
	done | sqlite3 -cmd '.timeout 20000' $db
}
fill 0 60 &
one=$!
fill 100 160 &
two=$!
sqlite3 -cmd '.timeout 20000' $db 'select count(*) >= 0 from t;' >/dev/null
wait $one
wait $two
sqlite3 -cmd '.timeout 20000' $db 'pragma integrity_check; pragma wal_checkpoint(truncate);' >work/check
sqlite3 $db 'pragma journal_mode=delete; update t set v = upper(v);' >>work/check
sqlite3 $db .dump >work/dump
rm $db
ls work >work/names
