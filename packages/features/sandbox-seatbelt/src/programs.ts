/** Files that every macOS program needs to start. */
import { allow, literal, named, subpath } from "./sbpl.ts";

/** Programs, libraries and their resources; no user's files. */
const SYSTEM = [
  "/Applications/Xcode.app/Contents/Developer",
  "/Library/Apple",
  "/Library/Developer",
  "/Library/Frameworks",
  "/Library/Java",
  "/Library/Perl",
  "/Library/Ruby",
  "/System",
  "/bin",
  "/opt/homebrew",
  "/opt/local",
  "/private/etc",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
  "/private/var/select",
  "/sbin",
  "/usr",
];

/** Root may read these without being asked for more. */
const SECRETS = ["/private/etc/master.passwd", "/private/etc/ssh", "/private/etc/sudoers", "/private/etc/sudoers.d"];

/** Links that paths begin with, and what /usr/bin/git and its like look up. */
const LINKS = ["/etc", "/tmp", "/var", "/private", "/private/tmp", "/private/var", "/private/var/db/xcode_select_link"];

const DEVICES = ["/dev", "/dev/fd", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

const WRITABLE_DEVICES = ["/dev/null", "/dev/zero"];

const SYSCTLS = [
  "kern.argmax",
  "kern.hostname",
  "kern.iossupportversion",
  "kern.maxfilesperproc",
  "kern.maxproc",
  "kern.ngroups",
  "kern.osproductversion",
  "kern.osrelease",
  "kern.ostype",
  "kern.osvariant_status",
  "kern.osversion",
  "kern.secure_kernel",
  "kern.usrstack64",
  "kern.version",
  "sysctl.proc_cputype",
  "sysctl.proc_native",
  "sysctl.proc_translated",
  "vm.loadavg",
];

export const FOR_PROGRAMS: readonly string[] = [
  allow("process-exec"),
  allow("process-fork"),
  allow("signal", "(target same-sandbox)"),
  allow("process-info*", "(target same-sandbox)"),
  allow("file-read*", literal("/"), ...SYSTEM.map(subpath), ...DEVICES.map(literal)),
  allow("file-read-metadata", ...LINKS.map(literal)),
  allow("file-write*", ...WRITABLE_DEVICES.map(literal)),
  allow("file-ioctl", ...WRITABLE_DEVICES.map(literal)),
  allow("ipc-posix-sem"),
  allow("ipc-posix-shm-read-data", named("ipc-posix-name", "apple.shm.notification_center")),
  // Names of users and groups. Not the preferences, the keychain or the pasteboard: each is a way to secrets.
  allow("mach-lookup", named("global-name", "com.apple.system.opendirectoryd.libinfo")),
  // By name: all of them would include the arguments and the environment of other processes.
  allow(
    "sysctl-read",
    ...["hw.", "machdep.cpu."].map((prefix) => named("sysctl-name-prefix", prefix)),
    ...SYSCTLS.map((name) => named("sysctl-name", name)),
  ),
];

/** Always hidden. */
export const ALWAYS_HIDDEN: readonly string[] = SECRETS;

/** Connections by IP, names and certificates. No local sockets but the resolver's: theirs would be a way to every other program. */
export const FOR_NETWORK: readonly string[] = [
  allow("network-outbound", '(remote ip "*:*")', literal("/private/var/run/mDNSResponder")),
  allow("network-inbound", '(local ip "*:*")'),
  allow("network-bind", '(local ip "*:*")'),
  allow("system-socket"),
  allow(
    "mach-lookup",
    ...[
      "com.apple.SystemConfiguration.configd",
      "com.apple.SystemConfiguration.DNSConfiguration",
      "com.apple.trustd.agent",
    ].map((name) => named("global-name", name)),
  ),
];
