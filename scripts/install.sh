#!/bin/sh
# Installs runner: downloads the binary for this system, verifies its checksum and installs it in
# $RUNNER_INSTALL, by default ~/.local/bin. It never needs root, and removes its temporary files if
# anything fails.
#
#   sh install.sh            the latest release
#   sh install.sh 1.2.3      that release
#
# RUNNER_RELEASES is where releases are; a release fills it in below.
set -eu

releases=${RUNNER_RELEASES:-@RELEASES@}

fail() {
  printf 'install.sh: error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

find_system() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=macos ;;
    MINGW* | MSYS* | CYGWIN*) fail "this is Windows" "use install.ps1 from PowerShell" ;;
    *) fail "$(uname -s) is not supported" "there are binaries for Linux, macOS and Windows" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "$(uname -m) is not supported" "there are binaries for x86_64 and arm64" ;;
  esac
  if [ "$os" = linux ] && ldd --version 2>&1 | grep -qi musl; then
    fail "this system uses musl, but runner needs glibc" \
      "on Alpine use an image with glibc, such as debian:stable-slim"
  fi
}

# download <url> <file>
download() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1" 2>"$work/said" && return
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" 2>"$work/said" && return
  else
    fail "curl or wget is required for the download" "install one of them"
  fi
  fail "cannot download $1" "$(tail -n 1 "$work/said")"
}

# checksum <file>
checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "cannot verify the download" "install sha256sum, shasum or openssl"
  fi
}

# A function, so that a script that was downloaded only in part does nothing.
main() {
  version=${1:-latest}
  case $releases in
    @*) fail "RUNNER_RELEASES is not set" "set it to the page of the releases: https://…/releases" ;;
  esac
  case $version in
    latest) from=$releases/latest/download ;;
    v[0-9]*) from=$releases/download/$version ;;
    [0-9]*) from=$releases/download/v$version ;;
    *) fail "\"$version\" is not a version" "use a version such as 1.2.3, or none for the latest" ;;
  esac
  [ -n "${RUNNER_INSTALL:-}" ] || [ -n "${HOME:-}" ] ||
    fail "HOME is not set" "set RUNNER_INSTALL to the directory to install into"
  folder=${RUNNER_INSTALL:-$HOME/.local/bin}

  find_system
  name=runner-$os-$arch
  work=$(mktemp -d)
  new=
  trap 'rm -rf "$work" ${new:+"$new"}' EXIT
  trap 'exit 1' HUP INT TERM

  download "$from/SHA256SUMS" "$work/SHA256SUMS"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)[ *]*$name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "the release has no $name" "it is not listed in $from/SHA256SUMS"
  download "$from/$name" "$work/$name"
  found=$(checksum "$work/$name")
  [ "$found" = "$wanted" ] ||
    fail "checksum mismatch for $name" "expected $wanted, got $found"

  mkdir -p "$folder" || fail "cannot create the directory $folder"
  [ ! -d "$folder/runner" ] ||
    fail "$folder/runner is a directory" "set RUNNER_INSTALL to another directory"
  new=$folder/.runner-$$
  { cp "$work/$name" "$new" && chmod 755 "$new" && mv -f "$new" "$folder/runner"; } ||
    fail "cannot write to $folder" "set RUNNER_INSTALL to a directory that you can write to"
  new=

  printf 'installed %s\n' "$folder/runner"
  # shellcheck disable=SC2016 # $PATH is meant for the shell that the line is pasted into.
  case :$PATH: in
    *:"$folder":*) ;;
    *) printf 'add it to your PATH: export PATH="%s:$PATH"\n' "$folder" ;;
  esac
}

{ main "$@"; }
