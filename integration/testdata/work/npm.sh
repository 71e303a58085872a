# install a package from a local tarball and run it
export npm_config_cache="$HOME/npm" npm_config_update_notifier=false
mkdir work/app
cp in/app/package.json work/app
cp in/greet-1.0.0.tgz work
cd work/app
npm install --offline --no-audit --no-fund --silent ../greet-1.0.0.tgz
node -e 'console.log(require("greet")())' >output
./node_modules/.bin/greet >>output
npm run --silent hello >>output
