/** The handle of a person: a phone number, or the mail address of an account. */
import { type Logger } from "@svc/contract";
import { senderGate } from "@svc/kit";

/** As `+` and digits, or an address in lower case; other handles (an SMS sender's name) stay unchanged. */
export function normalised(handle: string): string {
  if (handle.includes("@")) return handle.toLowerCase();
  return PHONE.test(handle) ? `+${handle.replaceAll(/[^0-9]/g, "")}` : handle;
}

/** What the platform takes in `to`. */
export const isHandle = (text: string): boolean => /^\+[0-9]{3,15}$|^[^\s@/]+@[^\s@/]+$/.test(text);

export function handleGate(allowed: readonly string[], log: Logger): (sender: string) => boolean {
  const options = { allowed, log, channel: "provider_b" };
  const phones = senderGate({ ...options, mode: "phone" });
  const addresses = senderGate({ ...options, mode: "case_insensitive" });
  return (sender) => (sender.includes("@") ? addresses(sender) : phones(sender));
}

const PHONE = /^\+?[0-9][0-9 .()-]*$/;
