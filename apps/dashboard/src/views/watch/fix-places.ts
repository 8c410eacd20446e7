/** Where in the page the fix of a finding is made. */
import { hrefOf } from "../../route/route.ts";
import type { PlainKey } from "../../texts/texts.ts";

export interface FixPlace {
  readonly href: string;
  readonly label: PlainKey;
}

const setting = (section: string): FixPlace => ({
  href: hrefOf("settings", section),
  label: "doctor.open-the-setting",
});

/** By a finding's id, where its text names no key. */
const PLACES: Readonly<Record<string, FixPlace>> = {
  sandbox: setting("security.sandbox"),
  "idle-tokens": { href: hrefOf("devices"), label: "common.devices" },
  devices: { href: hrefOf("devices"), label: "common.devices" },
  "page-sessions": { href: hrefOf("devices"), label: "common.devices" },
  "pairing-codes": { href: hrefOf("devices"), label: "common.devices" },
  procedures: { href: hrefOf("procedures"), label: "common.procedures" },
  config: { href: hrefOf("settings"), label: "common.all-settings" },
};

/** Sections that the page has forms of, as they begin in a fix: `gateway.host`, `[channels_config.email]`. */
const KEY =
  /(?<![\w./-])(channels_config\.\w+|security\.(?:policy|sandbox|net|webauthn)|gateway|model|agents?|prices|tools|approvals|sop|workspace|retention|delivery|daemon|observability|log|secrets|transcription|tts|browser|plugins)(?=[.\]])/;

/** Undefined: it is nothing that the page can change. */
export function placeOfFix(id: string, fix: string): FixPlace | undefined {
  const section = KEY.exec(fix)?.[1];
  if (section === undefined) return PLACES[id];
  const channel = /^channels_config\.(\w+)$/.exec(section)?.[1];
  if (channel !== undefined) return { href: hrefOf("channels", channel), label: "doctor.open-the-channel" };
  return section === "model" ? { href: hrefOf("model"), label: "doctor.open-the-model" } : setting(section);
}

/** What a fix says to enter at a terminal: to the end of the sentence part. */
export function commandIn(fix: string): string | undefined {
  const command = /\bsvc [a-z][^;,\n]*/.exec(fix)?.[0].trim();
  return command === undefined || command.includes("…") ? undefined : command.replace(/\.$/, "");
}
