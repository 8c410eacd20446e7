#!/usr/bin/env bash
# A kernel with simulated GPIO and I2C, and FAT drives, for tests of hardware: Debian's newest, with the drivers that this machine's may
# lack, and a first file system that has this machine's files read-only below a layer in memory. About 125 MB to download, once.
#
#   guest-kernel.sh [folder]       default: /srv/svc-guest
#
# Needs apt-get, busybox-static, cpio, kmod, xz-utils and, to start it, qemu-system-x86. No input.
set -euo pipefail
target=$(realpath --canonicalize-missing "${1:-/srv/svc-guest}")
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
uri=$(apt-get indextargets --format '$(CREATED_BY) $(CODENAME) $(REPO_URI)' |
  awk -v name="$codename" '$1 == "Packages" && $2 == name && !seen++ { print $3 }')
[[ -n $uri ]] || { echo "apt names no Debian archive for $codename" >&2; exit 1; }

# Lists of its own: this machine's apt goes on as it is.
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/tree"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri sid main" >"$work/sid.list"
apt=(-o "Dir::Etc::sourcelist=$work/sid.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$work/lists"
  -o "Dir::Cache=$work/cache" -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
apt-get "${apt[@]}" --quiet=2 update
binary=$(apt-cache "${apt[@]}" search --names-only '^linux-binary-[0-9.]+[+]deb[0-9]+-amd64$' | sort -V | tail -1 | cut -d' ' -f1)
[[ -n $binary ]] || { echo "the archive has no linux-binary package" >&2; exit 1; }
version=${binary#linux-binary-}
(cd "$work" && apt-get "${apt[@]}" --quiet=2 download "$binary" "linux-modules-$version")
for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$work/tree"; done
depmod -b "$work/tree/usr" "$version" 2>/dev/null || true

first=$work/first
mkdir -p "$first"/{bin,drivers,host,layer,new,proc,sys,dev}
cp /bin/busybox "$first/bin/busybox"
number=10
for driver in 9pnet_virtio 9p overlay gpio-sim i2c-dev i2c-stub loop vfat nls_cp437 nls_ascii nls_utf8; do
  modprobe -d "$work/tree/usr" -S "$version" --show-depends "$driver" | sed -n 's/^insmod //p'
done | sed 's/ *$//' | awk '!seen[$1]++' >"$work/drivers"
while read -r file; do
  name=$(basename "$file" .xz)
  # This one needs addresses: a test loads it.
  [[ $name == i2c-stub.ko ]] && number_of=99 || number_of=$((number++))
  xz --decompress --stdout "$file" >"$first/drivers/$number_of-$name"
done <"$work/drivers"
cat >"$first/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev
for driver in /drivers/[1-8]*.ko; do $b insmod $driver; done
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose host /host
$b mount -t tmpfs layer /layer; $b mkdir -p /layer/up /layer/work
$b mount -t overlay -o lowerdir=/host,upperdir=/layer/up,workdir=/layer/work root /new
for folder in proc sys dev; do $b mount --move /$folder /new/$folder; done
$b mount -t configfs none /new/sys/kernel/config
$b mount -t tmpfs run /new/run
$b mkdir /new/run/drivers; $b cp /drivers/99-* /new/run/drivers/
exec $b chroot /new /bin/bash -c '
  exec >/dev/console 2>&1 </dev/null
  export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  ip link set lo up
  bash "$(sed -n "s/.*svc.script=\([^ ]*\).*/\1/p" /proc/cmdline)"
  echo "guest-exit $?"
  echo o >/proc/sysrq-trigger
  sleep 10'
INIT
chmod +x "$first/init"

mkdir -p "$target"
(cd "$first" && find . | cpio --create --format=newc --quiet | gzip -1) >"$target/initrd.gz.new"
cp "$work/tree/usr/lib/modules/$version/vmlinuz" "$target/vmlinuz.new"
mv "$target/vmlinuz.new" "$target/vmlinuz"
mv "$target/initrd.gz.new" "$target/initrd.gz"
echo "$target: Linux $version"
