/** What a section names as the operator's own: its feature may reach it wherever it is, as in the service. */
import type { Section } from "./conformance/channel/subject.ts";

export function ownUrls(section: unknown): string[] {
  const { api_url: api, url, homeserver, relays } = (section ?? {}) as Section;
  return [api, url, homeserver, ...(Array.isArray(relays) ? (relays as unknown[]) : [])].filter(
    (own) => typeof own === "string" && own !== "",
  ) as string[];
}
