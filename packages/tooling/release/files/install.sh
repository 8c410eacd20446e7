#!/bin/sh
# Installs svc for this user: downloads the binary of this platform, verifies its signature and checksum, puts it in place.
# Nothing outside of the prefix is written, and root is not needed.
set -eu

url='@url@'
keys='@keys@'
profile=minimal
prefix="${HOME:-}/.local"
dry_run=no
unsigned=no

help() {
  cat <<HELP
Usage: install.sh [options]

  --profile <name>     minimal (default), home, standard, full: what the binary contains
  --prefix <folder>    install to <folder>/bin/svc (default: ~/.local)
  --from <url>         folder of the release (default: $url)
  --key <key>          public key of minisign that signs it (default: the one in this script)
  --without-signature  verify the checksum only, where neither minisign nor OpenSSL 3 is installed
  --dry-run            say what would be done, and download nothing
  --help               this text

Examples:
  sh install.sh
  sh install.sh --profile full --prefix /opt/svc
  sh install.sh --dry-run

Exit codes: 64 wrong arguments, 65 the release is not what was signed, 69 something is missing or can't be reached.
HELP
}

fail() {
  code=$1
  shift
  for line in "$@"; do printf '%s\n' "$line" >&2; done
  exit "$code"
}

has() { command -v "$1" >/dev/null 2>&1; }

need() { [ "$2" -ge 2 ] || fail 64 "$1 needs a value. See: install.sh --help"; }

while [ $# -gt 0 ]; do
  case $1 in
    --profile) need "$1" $#; profile=$2; shift 2 ;;
    --prefix) need "$1" $#; prefix=$2; shift 2 ;;
    --from) need "$1" $#; url=$2; shift 2 ;;
    --key) need "$1" $#; keys=$2; shift 2 ;;
    --without-signature) unsigned=yes; shift ;;
    --dry-run) dry_run=yes; shift ;;
    --help | -h) help; exit 0 ;;
    *) fail 64 "There is no option $1. See: install.sh --help" ;;
  esac
done

case $profile in *[!a-z0-9-]* | '') fail 64 "--profile is a name such as minimal." ;; esac
case $url in
  https://* | http://127.0.0.1:* | http://localhost:*) ;;
  '') fail 64 "This script has no address of releases: name one with --from." ;;
  *) fail 64 "--from must be an https URL." ;;
esac
url=${url%/}
[ -n "$prefix" ] && [ "$prefix" != /.local ] || fail 64 "HOME is not set: name a folder with --prefix."
[ -n "$keys" ] || [ "$unsigned" = yes ] || fail 64 "This script has no key: name one with --key."

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail 69 "There is no build for $(uname -s). On Windows: winget install svc" ;;
esac
case $(uname -m) in
  x86_64 | amd64) cpu=x64 ;;
  aarch64 | arm64) cpu=arm64 ;;
  *) fail 69 "There is no build for $(uname -m) processors: x64 and arm64 are built." ;;
esac
target=$os-$cpu
if [ "$os" = linux ] && has ldd && ldd --version 2>&1 | grep -qi musl; then
  fail 69 "svc needs glibc 2.28 or newer; this system has musl. Use the container image."
fi

if has curl; then
  fetch() { curl --fail --silent --show-error --location --proto '=https,http' --max-time 1800 --output "$2" "$1"; }
elif has wget; then
  # busybox has another wget, which knows neither --version nor --timeout.
  limit=''
  ! wget --version >/dev/null 2>&1 || limit=--timeout=60
  fetch() { wget -q ${limit:+"$limit"} -O "$2" "$1"; }
else
  fail 69 "Neither curl nor wget is installed: install one of them."
fi

if has sha256sum; then
  sha256() { sha256sum <"$1" | cut -c 1-64; }
elif has shasum; then
  sha256() { shasum -a 256 <"$1" | cut -c 1-64; }
elif has openssl; then
  sha256() { openssl dgst -sha256 -r <"$1" | cut -c 1-64; }
else
  fail 69 "None of sha256sum, shasum and openssl is installed, so nothing can be verified."
fi
has gzip || fail 69 "gzip is not installed."

# LibreSSL and OpenSSL 1 can't verify Ed25519 at the command line.
openssl_verifies() { has openssl && openssl version | grep -Eq '^OpenSSL ([3-9]|[1-9][0-9])' && has base64 && has dd; }

if [ "$unsigned" = yes ]; then
  verifier=none
elif has minisign; then
  verifier=minisign
elif openssl_verifies; then
  verifier=openssl
else
  fail 69 "Neither minisign nor OpenSSL 3 is installed, so the signature of the release can't be verified." \
    "Install one of them. To trust the server alone: install.sh --without-signature"
fi

if [ "$dry_run" = yes ]; then
  printf 'platform   %s\nprofile    %s\nrelease    %s\nsignature  %s\nbinary     %s\n' \
    "$target" "$profile" "$url" "$verifier" "$prefix/bin/svc"
  exit 0
fi

mkdir -p "$prefix/bin" || fail 69 "$prefix/bin can't be made: name a folder of yours with --prefix."
# Beside its place: the last step is one rename.
work=$(mktemp -d "$prefix/bin/.svc-install.XXXXXX") || fail 69 "$prefix/bin can't be written."
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

download() { fetch "$url/$1" "$work/$1" || fail 69 "$url/$1 can't be downloaded. Nothing was installed."; }

# $1: bytes to skip, $2: bytes to take of standard input.
slice() { dd bs=1 skip="$1" count="$2" 2>/dev/null; }

# With one key, as minisign does it: Ed25519 over the BLAKE2b-512 of the file, and over that signature and the trusted comment.
verify_with_openssl() {
  printf '%s' "$1" | base64 -d >"$work/key" || return 1
  sed -n 2p "$work/SHA256SUMS.minisig" | base64 -d >"$work/signature" || return 1
  sed -n 4p "$work/SHA256SUMS.minisig" | base64 -d >"$work/global" || return 1
  [ "$(slice 0 2 <"$work/key")" = Ed ] && [ "$(slice 0 2 <"$work/signature")" = ED ] || return 1
  slice 2 8 <"$work/key" >"$work/key-id"
  slice 2 8 <"$work/signature" | cmp -s - "$work/key-id" || return 1
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; slice 10 32 <"$work/key"; } >"$work/key.der"
  slice 10 64 <"$work/signature" >"$work/made"
  openssl dgst -blake2b512 -binary <"$work/SHA256SUMS" >"$work/digest"
  { cat "$work/made"; sed -n '3s/^trusted comment: //p' "$work/SHA256SUMS.minisig" | tr -d '\n'; } >"$work/commented"
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/digest" -sigfile "$work/made" >/dev/null 2>&1 &&
    openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/commented" -sigfile "$work/global" >/dev/null 2>&1
}

verify() {
  case $verifier in
    none) return 0 ;;
    minisign) minisign -V -q -H -P "$1" -m "$work/SHA256SUMS" >/dev/null 2>&1 ;;
    openssl) verify_with_openssl "$1" ;;
  esac
}

download SHA256SUMS
[ "$verifier" = none ] || download SHA256SUMS.minisig
verified=no
for key in ${keys:-none}; do
  if verify "$key"; then
    verified=yes
    break
  fi
done
[ "$verified" = yes ] || fail 65 "The signature of the release is wrong. Nothing was installed."

name=$(sed -n "s/^[0-9a-f]\{64\}  \(svc-[0-9A-Za-z.-]*-$profile-$target\.gz\)\$/\1/p" "$work/SHA256SUMS" | head -n 1)
[ -n "$name" ] || fail 69 "The release has no build $profile for $target."
sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS" | head -n 1)
printf 'downloading %s\n' "$name"
download "$name"
[ "$(sha256 "$work/$name")" = "$sum" ] || fail 65 "The checksum of $name is wrong. Nothing was installed."
gzip -dc "$work/$name" >"$work/svc" || fail 69 "$name can't be unpacked: is the disk full? Nothing was installed."
chmod 755 "$work/svc"
version=$("$work/svc" --version) || fail 69 "The binary does not start on this machine. Nothing was installed."
mv -f "$work/svc" "$prefix/bin/svc"
printf 'installed %s as %s/bin/svc\n' "$version" "$prefix"
case :${PATH:-}: in
  *":$prefix/bin:"*) printf 'Next: svc init\n' ;;
  *) printf 'Next: export PATH="%s/bin:$PATH", then: svc init\n' "$prefix" ;;
esac
