/**
 * What confines the commands of the agents: the one answer of the start, `svc status`, `/api/status`, `/api/features`,
 * `svc doctor` and the page.
 */
import type { SandboxChoice } from "@svc/agent";
import type { CatalogueEntry, Composition } from "@svc/contract";

/** A type, not an interface: it goes out as JSON. */
export type SandboxState = {
  /** The backend in force; `none`: nothing confines; `unavailable`: commands are refused; `probing`: they wait for the verdict. */
  readonly effective: string;
  readonly confined: boolean;
  /** For a person. */
  readonly summary: string;
  /** One command, or one change, that adds a sandbox. Null where one is in force. */
  readonly fix: string | null;
  /** What the operator does not know yet: not that a sandbox is in force, nor that the config wants none. */
  readonly warning: string | null;
  /** Why it is no stronger one, and what it can't hold; a sentence each. */
  readonly reasons: string[];
};

type Build = Pick<Composition, "catalogue">;

export function sandboxState(choice: SandboxChoice, build: Build, platform: string = process.platform): SandboxState {
  const { effective, chosenNone, warning = null, reasons } = choice;
  const confined = !["none", "unavailable", "probing"].includes(effective);
  const said = { effective, confined, warning, reasons: reasons.map(asSentence) };
  if (confined) return { ...said, summary: `Commands run in the sandbox ${effective}.`, fix: null };
  if (effective === "probing") {
    return { ...said, summary: "The sandbox is being probed; commands wait until it is known.", fix: null };
  }
  if (effective === "unavailable") {
    const summary = warning ?? "A sandbox is required and none is available: commands are refused.";
    return { ...said, summary, fix: fixFor(choice, build, platform) };
  }
  if (chosenNone) {
    const summary = "Commands run without a sandbox, as the config says.";
    return { ...said, summary, fix: fixFor(choice, build, platform) };
  }
  const summary = warning ?? "Commands run without a sandbox.";
  return { ...said, summary, fix: fixFor(choice, build, platform) };
}

/** A feature of kind `sandbox` as it is on this machine; undefined: as its life says. */
export function sandboxFeatureState(
  { id }: CatalogueEntry,
  { effective, tried }: SandboxChoice,
):
  | { readonly state: "off"; readonly reason: string }
  | { readonly state: "probing"; readonly reason: null }
  | undefined {
  if (effective === "probing") return { state: "probing", reason: null };
  const backend = backendOf(id);
  const reason = tried.get(backend);
  if (reason !== undefined) return { state: "off", reason };
  return backend === effective ? undefined : { state: "off", reason: `not needed: ${effective} is in force` };
}

function fixFor({ inTheWay, obstacle, tried, wanted }: SandboxChoice, { catalogue }: Build, platform: string): string {
  if (inTheWay.length > 0) return `set ${inTheWay.join(" and ")}`;
  if (obstacle) return "do what the sentence says, then: svc restart";
  if (wanted !== "auto") return 'set security.sandbox.backend = "auto"';
  const here = catalogue.filter(
    ({ kind, planned, platforms }) =>
      kind === "sandbox" && !planned && (platforms.length === 0 || platforms.includes(platform)),
  );
  const addable = here.filter(({ included }) => !included);
  // A sandbox of the kernel needs nothing but a build that has it.
  const best = addable.find(({ id }) => !(id in PROGRAMS));
  if (best) return best.build;
  const isMissing = ({ id, included }: CatalogueEntry): boolean =>
    included && /\binstalled\b/.test(tried.get(backendOf(id)) ?? "");
  const programs = here.filter(isMissing).flatMap(({ id }) => PROGRAMS[id] ?? []);
  if (programs.length > 0) return `install ${programs.join(" or ")}, then: svc restart`;
  if (addable[0]) return `${addable[0].build}, and install ${PROGRAMS[addable[0].id]}`;
  if (here.length > 0) return "svc doctor says what each of them needs";
  return "none is written for this system yet; leave security.policy.autonomy at supervised";
}

const backendOf = (feature: string): string => feature.replace(/^sandbox-/, "");

/** What a person installs for a sandbox. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "sandbox-userns": "bubblewrap",
  "sandbox-jail": "firejail",
  "sandbox-container": "podman with the image debian:stable-slim",
};

const asSentence = (reason: string): string => `${reason[0]?.toUpperCase() ?? ""}${reason.slice(1)}.`;
