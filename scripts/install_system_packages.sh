#!/bin/sh
# Installs what `deno task test:system` needs, from Debian's packages.
set -eu
packages="tmux procps util-linux zsh fish"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends $packages
