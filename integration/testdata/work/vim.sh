# save as editors do: in place, with a backup, by writing anew and renaming
cp in/tree/a.txt work/a.txt
vim -u NONE -i NONE -es -c 'set nobackup writebackup backupcopy=no' -c '%s/line/LINE/' -c wq work/a.txt
vim -u NONE -i NONE -es -c 'set backup backupcopy=yes backupdir=.' -c 'normal Gonew' -c wq work/a.txt
cp work/a.txt work/.a.txt.tmp
echo atomic >>work/.a.txt.tmp
sync work/.a.txt.tmp
mv work/.a.txt.tmp work/a.txt
vim -u NONE -i NONE -es -c 'set swapfile directory=work' -c 'normal Goswap' -c wq work/a.txt
ls -A work >work/names
