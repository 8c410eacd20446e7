/**
 * podman's own profile of system calls lets a command make a user namespace, and mount, trace and use keys in it: ways to attack the
 * kernel that the other sandboxes close. docker's refuses them. https://github.com/containers/common/blob/main/docs/containers.conf.5.md
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MOUNTING } from "@svc/kit/seccomp";
import type { Engine } from "./engine.ts";

/** The engine's profile, as JSON, without those calls; undefined: it has none in a file, and keeps what is built in. */
export async function stricterProfile(engine: Pick<Engine, "name">): Promise<string | undefined> {
  if (engine.name !== "podman") return undefined;
  for (const file of PROFILES) {
    const profile = parsed(await readFile(file, "utf8").catch(() => ""));
    if (profile) return JSON.stringify(without(profile));
  }
  return undefined;
}

/** Its file in a folder of a session's; undefined: the engine's own is in force. */
export async function profileIn(
  folder: string,
  { profile }: { readonly profile: string | undefined },
): Promise<string | undefined> {
  if (profile === undefined) return undefined;
  const file = join(folder, "seccomp.json");
  await writeFile(file, profile);
  return file;
}

/** In the order in which podman looks for it. */
const PROFILES = ["/etc/containers/seccomp.json", "/usr/share/containers/seccomp.json"];

interface Profile {
  readonly syscalls: readonly { readonly names: readonly string[] }[];
}

function parsed(text: string): Profile | undefined {
  try {
    const { syscalls } = JSON.parse(text) as Partial<Profile>;
    return Array.isArray(syscalls) ? (JSON.parse(text) as Profile) : undefined;
  } catch {
    return undefined;
  }
}

const without = (profile: Profile): object => ({
  ...profile,
  syscalls: [
    ...profile.syscalls.flatMap((rule) => {
      const names = rule.names.filter((name) => !OURS.has(name));
      return names.length > 0 ? [{ ...rule, names }] : [];
    }),
    { names: REFUSED, action: "SCMP_ACT_ERRNO", errnoRet: EPERM },
    // Its flags are in memory, where no filter reads them: libraries fall back to clone(2).
    { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: ENOSYS },
    {
      names: ["clone"],
      action: "SCMP_ACT_ALLOW",
      args: [{ index: 0, value: NAMESPACES, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }],
    },
    // Others have no namespaces: AF_VSOCK reaches the host of a virtual machine.
    ...FAMILIES.map((value) => ({
      names: ["socket"],
      action: "SCMP_ACT_ALLOW",
      args: [{ index: 0, value, valueTwo: 0, op: "SCMP_CMP_EQ" }],
    })),
  ],
});

const REFUSED: readonly string[] = [
  ...MOUNTING,
  "umount",
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "pidfd_getfd",
  "kcmp",
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  "open_by_handle_at",
  "add_key",
  "request_key",
  "keyctl",
  "bpf",
  "perf_event_open",
  "userfaultfd",
];
const OURS: ReadonlySet<string> = new Set([...REFUSED, "clone", "clone3", "socket"]);

const EPERM = 1;
const ENOSYS = 38;
/** `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`. */
const NAMESPACES = 0x7e02_0000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];
