#!/bin/sh
# Installs what `deno task test:system` needs, from Debian's packages and, in tests/tools, from npm.
set -eu
packages="tmux procps util-linux zsh fish chromium chromium-headless-shell python3 curl wget libxml2-utils shellcheck ruby redis-server rabbitmq-server kcat mosquitto nats-server nginx-light python3-httpbin python3-pyotp tinyproxy openssl docker-registry openssh-server openssh-client rsync make git postgresql mariadb-server-core mariadb-client-core python3-grpcio python3-protobuf protobuf-compiler libprotobuf-dev dovecot-imapd python3-aiosmtpd postfix prometheus systemd"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
# shellcheck disable=SC2086 # They are words.
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
npm ci --prefix "$(dirname "$0")/../tests/tools" --ignore-scripts --no-audit --no-fund
