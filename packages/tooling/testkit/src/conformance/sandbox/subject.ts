import { type Confinement, type FeatureDefinition, type SandboxLimit } from "@svc/contract";
import { SANDBOX_USER } from "@svc/kit/process";
import type { fakeFeatureContext } from "../../feature-context.ts";
import type { MissingPart } from "../../require-real.ts";

export interface SandboxSubject {
  /** What is missing here, so that the backend can't be tried: every check is skipped, or fails where it is required. */
  readonly missing?: () => MissingPart | undefined | Promise<MissingPart | undefined>;
  /** `[security.sandbox]`. Default: this backend is asked for by its name. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What it is handed beside that, made for each check: `child`, `survey`, `homeFolder`. */
  readonly context?: () => NonNullable<Parameters<typeof fakeFeatureContext>[1]>;
  /** Commands see a system of their own (a container): its programs, its /etc. Default: this machine's. */
  readonly ownSystem?: boolean;
  /** Limits that it can't hold on this machine, by whom commands run as. Its probe has to say so too. Default: none. */
  readonly unenforced?: (who: Who) => readonly SandboxLimit[];
  /** Whom it can run commands as. Default: the daemon's user, and as root another user too. */
  readonly users?: readonly Who["name"][];
}

/** Whom the commands of a check run as. */
export interface Who {
  /** `daemon`: the user that runs the tests; `unprivileged`: another user, if root runs them. */
  readonly name: "daemon" | "unprivileged";
  readonly user: Confinement["user"];
}

/** What the checks of one backend are made of. */
export interface SandboxBench {
  readonly definition: FeatureDefinition;
  readonly subject: SandboxSubject;
  readonly who: Who;
}

/** Root sees to it that commands are not root's: both are tried. */
export function whosOf(subject: SandboxSubject): Who[] {
  const asDaemon: Who = { name: "daemon", user: undefined };
  const asUser: Who = { name: "unprivileged", user: SANDBOX_USER };
  const all = process.getuid?.() === 0 ? [asDaemon, asUser] : [asDaemon];
  return all.filter(({ name }) => subject.users?.includes(name) ?? true);
}
