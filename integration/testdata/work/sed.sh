# edit in place, keeping the mode; append; replace by rename; link and unlink
cp in/tree/b.sh work/b.sh
sed -i 's/echo/printf/' work/b.sh
sed -i.bak '1s/^/# first\n/' work/b.sh
printf 'more\n' >>work/b.sh
cp work/b.sh work/c.sh
ln work/c.sh work/d.sh
printf 'both\n' >>work/d.sh
rm work/c.sh
ln -s d.sh work/l
cat work/l >work/e
mv work/e work/d.sh
truncate -s 5 work/b.sh.bak
dd if=/dev/zero of=work/sparse bs=1 count=1 seek=100000 status=none
mkfifo work/fifo
(cat work/fifo >work/through) &
echo through >work/fifo
wait
