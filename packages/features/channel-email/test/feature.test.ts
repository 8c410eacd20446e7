// The package keeps what every feature keeps, and its section is what its page says.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { expect, test } from "vitest";
import { imapServer, smtpServer } from "../src/account.ts";
import type { Config } from "../src/config.ts";
import definition from "../src/index.ts";
import { section } from "./open.ts";

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config: { ...section, imap_port: 9, smtp_port: 9 },
});

const least = {
  address: "agent@example.com",
  imap_host: "imap.example.com",
  smtp_host: "smtp.example.com",
  password: "x",
};
const parse = (changes: object) => v.safeParse(definition.config!, { ...least, ...changes });
const told = (changes: object) => (parse(changes).issues ?? []).map((issue) => v.getDotPath(issue));

test("an address, two hosts and a password are enough", () => {
  expect(parse({}).output).toMatchObject({
    mailbox: "INBOX",
    allowed_senders: [],
    require_authenticated: true,
    mark_seen: true,
    poll_interval_secs: 60,
    max_attachment_mb: 25,
    save_sent: "off",
    max_answers_per_hour: 20,
  });
});

const GRANT = { refresh_token: "r", client_id: "i", client_secret: "s", token_url: "https://oauth.example.com/token" };

test.each<[object, (string | null)[]]>([
  [{ address: "agent" }, ["address"]],
  [{ address: "a@b, c@d" }, ["address"]],
  [{ address: "a@b\r\nBcc: c@d" }, ["address"]],
  [{ imap_host: "imap.example.com:993" }, ["imap_host"]],
  [{ smtp_host: "smtps://smtp.example.com" }, ["smtp_host"]],
  [{ imap_port: 0 }, ["imap_port"]],
  [{ imap_security: "ssl" }, ["imap_security"]],
  [{ imap_security: "none" }, ["imap_security"]],
  [{ smtp_security: "none" }, ["smtp_security"]],
  [{ tls_ca_file: "ca.pem" }, ["tls_ca_file"]],
  [{ password: undefined }, ["password"]],
  [{ password: " " }, ["password"]],
  [{ refresh_token: "r" }, ["client_id", "client_secret", "token_url"]],
  [{ ...GRANT, token_url: undefined }, ["token_url"]],
  [{ poll_interval_secs: 1 }, ["poll_interval_secs"]],
  [{ max_attachment_mb: 0 }, ["max_attachment_mb"]],
  [{ display_name: " " }, ["display_name"]],
])("of %j is told: %j", (changes, keys) => {
  expect(told(changes)).toEqual(keys);
});

test.each([
  { password: undefined, access_token: "a" },
  { password: undefined, ...GRANT },
  { imap_host: "::1", imap_security: "none" },
  { imap_host: "localhost", imap_security: "none" },
  { imap_host: "10.0.0.5", imap_security: "none", smtp_host: "192.168.1.2", smtp_security: "none" },
])("%j is taken", (changes) => {
  expect(told(changes)).toEqual([]);
});

test.each([
  [{}, { security: "tls", port: 993 }, { security: "tls", port: 465 }],
  [
    { imap_security: "starttls", smtp_security: "starttls" },
    { security: "starttls", port: 143 },
    { security: "starttls", port: 587 },
  ],
  [
    { imap_port: 143, smtp_port: 587 },
    { security: "starttls", port: 143 },
    { security: "starttls", port: 587 },
  ],
  [{ smtp_port: 25 }, { port: 993 }, { security: "starttls", port: 25 }],
  [
    { imap_port: 1993, smtp_port: 1465 },
    { security: "tls", port: 1993 },
    { security: "tls", port: 1465 },
  ],
])("%j leads to %j and %j", (changes, imap, smtp) => {
  const config = parse(changes).output as Config;
  expect(imapServer(config)).toMatchObject(imap);
  expect(smtpServer(config)).toMatchObject(smtp);
});
