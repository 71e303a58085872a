# build and test a module at the place where it stands; the cache is in $HOME
export GOCACHE="$HOME/gocache" GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod
cd in/module
go build -buildvcs=false -o ../../work/app .
go vet ./...
go test ./... >../../work/tested 2>&1 || { cat ../../work/tested; exit 1; }
sed -i 's/[0-9.]*s$/TIME/' ../../work/tested
../../work/app >../../work/output
