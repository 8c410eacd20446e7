/** What programs need to run, and nothing that tells about people. */

/** To read, and to run programs of; those that are not there are left out. */
export const SYSTEM: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix/store",
  "/gnu/store",
  // the loader, and who is who
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/etc/passwd",
  "/etc/group",
  "/etc/nsswitch.conf",
  "/etc/os-release",
  "/etc/debian_version",
  "/etc/lsb-release",
  "/etc/redhat-release",
  "/etc/alpine-release",
  "/etc/shells",
  // time, text, kinds of files
  "/etc/localtime",
  "/etc/timezone",
  "/etc/locale.alias",
  "/etc/terminfo",
  "/etc/inputrc",
  "/etc/profile",
  "/etc/bash.bashrc",
  "/etc/magic",
  "/etc/mime.types",
  "/etc/fonts",
  "/etc/perl",
  "/etc/python3",
  "/etc/python3.11",
  "/etc/manpath.config",
  "/etc/man_db.conf",
  "/etc/dpkg",
  "/etc/vim",
  "/etc/nanorc",
  "/etc/texmf",
  "/etc/ImageMagick-6",
  "/etc/ImageMagick-7",
  // links from the folders of programs lead here: without it a virtual machine of Java makes no random number
  ...["", "-8-openjdk", "-11-openjdk", "-17-openjdk", "-21-openjdk", "-25-openjdk"].map((name) => `/etc/java${name}`),
  // names and certificates of hosts; not /etc/ssl, where private keys lie
  "/etc/hosts",
  "/etc/host.conf",
  "/etc/resolv.conf",
  "/etc/gai.conf",
  "/etc/services",
  "/etc/protocols",
  "/etc/networks",
  "/etc/rpc",
  "/etc/ssl/certs",
  "/etc/ssl/cert.pem",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/tls/certs",
  "/etc/pki/tls/openssl.cnf",
  "/etc/pki/tls/openssl.d",
  "/etc/pki/ca-trust/extracted",
  "/etc/crypto-policies",
  "/etc/ca-certificates",
  "/var/lib/ca-certificates",
  // the machine, and of all processes only the command's first one: the others' command lines may hold secrets
  "/proc/self",
  "/proc/cpuinfo",
  "/proc/filesystems",
  "/proc/loadavg",
  "/proc/meminfo",
  "/proc/stat",
  "/proc/sys",
  "/proc/uptime",
  "/proc/version",
  "/sys/devices/system/cpu",
];

/**
 * Settings of the machine that may hold passwords, as those of a proxy, so that no rule shows them. git ends when one is there and
 * can't be read; by these variables it does not look for it.
 */
export const UNREAD_SETTINGS: readonly { readonly path: string; readonly env: Readonly<Record<string, string>> }[] = [
  { path: "/etc/gitconfig", env: { GIT_CONFIG_NOSYSTEM: "1" } },
  { path: "/etc/gitattributes", env: { GIT_ATTR_NOSYSTEM: "1" } },
];

export const DEVICES: readonly string[] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
