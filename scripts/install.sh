#!/bin/sh
# Installs runner: downloads the binary for this system, verifies its checksum and installs it in
# $RUNNER_INSTALL, by default ~/.local/bin. It never needs root, and removes its temporary files if
# anything fails.
#
#   sh install.sh            the latest release
#   sh install.sh 1.2.3      that release
#   sh install.sh --help     what it reads
#
# RUNNER_RELEASES is where releases are; a release fills it in below.
set -eu

releases=${RUNNER_RELEASES:-@RELEASES@}

fail() {
  printf 'install.sh: error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit "${code:-1}"
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

# fetch <url> <file>: sets $status to the HTTP status, or to 0 if there was no response
fetch() {
  status=0
  if command -v curl >/dev/null 2>&1; then
    bar=-s
    [ ! -t 2 ] || [ "${2##*/}" = SHA256SUMS ] || bar=--progress-bar
    # The bar is on standard error, which is kept otherwise to say what went wrong.
    if [ "$bar" = -s ]; then exec 3>"$work/said"; else exec 3>&2; fi
    status=$(curl -fSL "$bar" --retry 2 -o "$2" -w '%{http_code}' "$1" 2>&3) && return
    status=${status:-0}
  elif command -v wget >/dev/null 2>&1; then
    wget -S -O "$2" "$1" 2>"$work/said" && return
    status=$(sed -n 's/^ *HTTP[^ ]* \([0-9]*\).*/\1/p' "$work/said" | tail -n 1)
    status=${status:-0}
  else
    fail "curl or wget is required for the download" "install one of them"
  fi
  return 1
}

# download <url> <file> <what a 404 means> <what to do then>
download() {
  : >"$work/said"
  fetch "$1" "$2" && return
  case $status in
    404)
      [ "${2##*/}" != SHA256SUMS ] || code=3
      fail "$3" "$4"
      ;;
    401 | 403) fail "no access to $1 (HTTP $status)" \
      "a private repository does not serve its releases without a sign-in" ;;
  esac
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

help() {
  printf '%s\n' \
    'Installs runner: downloads the binary for this system, verifies its checksum and' \
    'installs it. Never needs root.' \
    '' \
    'Usage: sh install.sh [<version>]' \
    '' \
    'Arguments:' \
    '  [<version>]  A version such as 1.2.3 (default: the latest release)' \
    '' \
    'Options:' \
    '  -h, --help  Print this help and exit' \
    '' \
    'Environment:' \
    '  RUNNER_INSTALL   The directory to install into (default: ~/.local/bin)' \
    '  RUNNER_RELEASES  The page of the releases, such as' \
    '                   https://example.com/runner/releases' \
    '' \
    'Exit code: 3 if there is no such release, 1 after another error.' \
    '' \
    'From a pipe: curl -fsSL <url> | sh -s -- 1.2.3'
}

# Progress, beside what the script prints in the end.
say() {
  printf '%s\n' "$1" >&2
}

# A function, so that a script that was downloaded only in part does nothing.
main() {
  case ${1:-} in
    -h | --help)
      help
      return
      ;;
    -*) fail "unknown option $1" "sh install.sh --help prints what there is" ;;
  esac
  [ $# -lt 2 ] || fail "one version is enough, not $*"
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

  case $version in
    latest)
      missing="no release found at $releases (HTTP 404)"
      advice="RUNNER_RELEASES must be the page of the releases; that of a private repository is not found either"
      ;;
    *)
      missing="no release ${version#v} found at $releases (HTTP 404)"
      advice="see there which versions exist, or leave out the version for the latest"
      ;;
  esac
  say "looking for ${version#v} at $releases"
  download "$from/SHA256SUMS" "$work/SHA256SUMS" "$missing" "$advice"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)[ *]*$name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "the release has no $name" "it is not listed in $from/SHA256SUMS"
  say "downloading $name"
  download "$from/$name" "$work/$name" "the release lists $name, but does not contain it (HTTP 404)" \
    "it may still be uploading: try again in a few minutes ($from/$name)"
  say "verifying its checksum"
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
