// Whose mail it is: no program's, and nobody's who only says to be somebody else.
import { expect, test } from "vitest";
import { addressOf, authenticityOf, automaticBy, headersFrom, mailboxOf, nameOf } from "../src/mail/index.ts";

const headers = (fields: Record<string, string>) => headersFrom(Object.entries(fields));

test.each([
  ["ada@example.org", "ada@example.org", undefined],
  ['"Ada <victim@example.net>" <ada@example.org>', "ada@example.org", "Ada <victim@example.net>"],
  ["=?utf-8?B?w4RkYQ==?= =?utf-8?q?_L=2E?= <ada@example.org>", "ada@example.org", "Äda L."],
  ["=?utf-8?q?=3Cvictim=40example.net=3E?= <ada@example.org>", "ada@example.org", "<victim@example.net>"],
  ["<a@example.org>,<b@example.net>", "b@example.net", "<a@example.org>,"],
])("%j is of %s, by the name of %j", (from, address, name) => {
  expect(addressOf(from)).toBe(address);
  expect(nameOf(from)).toBe(name);
});

test("only one plain address is somebody to write to", () => {
  expect(mailboxOf(" Ada@Example.ORG ")).toBe("ada@example.org");
  for (const text of [
    "",
    "ada",
    "@example.org",
    "ada@",
    "a@b@c",
    "a b@c",
    "a@b, c@d",
    "a@b;c@d",
    "<a@b>",
    '"a"@b',
    "a@b\r\nBcc: c@d",
  ]) {
    expect(mailboxOf(text)).toBeUndefined();
  }
});

test.each([
  "mailer-daemon@x.example",
  "no-reply@x.example",
  "noreply+1@x.example",
  "do_not_reply@x.example",
  "bounce-7@x.example",
])("%s is no person", (address) => {
  expect(automaticBy(headers({}), address)).toBe("From");
});

test("what a person writes is not taken for a program's", () => {
  const fields = {
    "Auto-Submitted": "no",
    Precedence: "first-class",
    "Return-Path": "<ada@example.org>",
    "Content-Type": "multipart/mixed",
  };
  for (const address of ["ada@example.org", "nora.reply@example.org", "notifying@example.org", "bouncer@example.org"]) {
    expect(automaticBy(headers(fields), address)).toBeUndefined();
  }
});

const SERVER = "mx.example.net";
const checked = (results: string) => headers({ "Authentication-Results": `${SERVER}; ${results}` });
const authenticity = (results: string) => authenticityOf(checked(results), "ada@example.org", SERVER);

test.each([
  "dkim=pass header.i=@example.org header.s=s1 header.b=abc; spf=fail smtp.mailfrom=x@evil.test",
  "dkim=pass header.i=@mail.example.org header.s=s1 header.b=abc",
  "spf=pass (example.net: domain of ada@example.org designates 192.0.2.1 as permitted sender) smtp.mailfrom=ada@example.org",
  "dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.org",
])("the domain proves it: %s", (results) => {
  expect(authenticity(results)).toBe("proven");
});

test.each([
  "dkim=pass header.i=@evil.test; spf=pass smtp.mailfrom=x@evil.test; dmarc=fail header.from=example.org",
  "dmarc=pass header.from=evil.test",
  "dkim=fail header.i=@example.org",
  "dkim=pass header.i=@org",
  "dkim=pass header.i=@notexample.org",
  "spf=softfail smtp.mailfrom=ada@example.org",
  "dkim=none; spf=none",
  'spf=pass smtp.mailfrom="x; dmarc=pass header.from=example.org "@evil.test',
  "spf=pass (domain of x designates; dmarc=pass header.from=example.org ) smtp.mailfrom=x@evil.test",
  "",
])("it proves nothing: %s", (results) => {
  expect(authenticity(results)).toBe("unproven");
});

test("the domain's own refusal counts more than what we would take", () => {
  expect(authenticity("dkim=pass header.d=mail.example.org; dmarc=fail (p=reject) header.from=example.org")).toBe(
    "unproven",
  );
  expect(authenticity("dkim=pass header.d=example.org; dmarc=fail")).toBe("unproven");
  expect(authenticity("dkim=pass header.d=example.org; dmarc=fail header.from=other.test")).toBe("proven");
});

const GOOD = "dmarc=pass header.from=example.org";
const of = (...values: string[]) => headersFrom(values.map((value) => ["Authentication-Results", value]));

test.each<[string, string[], string | undefined, string]>([
  ["the topmost word", [`mx.example.net; ${GOOD}`], undefined, "proven"],
  ["not one that is further down", ["mx.example.net; dmarc=none", `mx.example.net; ${GOOD}`], undefined, "unproven"],
  ["nor under the server's name", ["mx.example.net; dmarc=none", `mx.example.net; ${GOOD}`], SERVER, "unproven"],
  ["the server's own word, below another's", ["filter.example; x=y", `MX.example.net 1; ${GOOD}`], SERVER, "proven"],
  ["nobody else's, if a server is named", [`mx.evil.test; ${GOOD}`], SERVER, "unchecked"],
  ["nor that of nobody", [GOOD], SERVER, "unchecked"],
  ["of a provider that does not say who it is", [`spf=fail smtp.mailfrom=x.test; ${GOOD}`], undefined, "proven"],
  ["none at all", [], undefined, "unchecked"],
  ["none of a server that found nothing", ["mx.example.net; none"], undefined, "unproven"],
])("what counts: %s", (_, values, server, expected) => {
  expect(authenticityOf(of(...values), "ada@example.org", server)).toBe(expected);
});
