/** What is put into a mailbox, as the bytes that someone wrote. */

const mail = (...lines: readonly string[]): string => Buffer.from(lines.join("\r\n")).toString("base64url");

export const PLAIN = mail(
  "From: Ada <ada@example.org>",
  "To: agent@example.com",
  "Subject: A question",
  "Date: Tue, 03 Feb 2026 12:00:00 GMT",
  "Message-ID: <m1@example.org>",
  "MIME-Version: 1.0",
  'Content-Type: text/plain; charset="UTF-8"',
  "",
  "How far is it?",
);

export const FILE = Buffer.from("%PDF-1.7 not really");

export const WITH_FILE = mail(
  "From: Ada <ada@example.org>",
  "To: agent@example.com",
  "Subject: A picture",
  "Date: Tue, 03 Feb 2026 12:05:00 GMT",
  "Message-ID: <m2@example.org>",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="outer"',
  "",
  "--outer",
  'Content-Type: multipart/alternative; boundary="inner"',
  "",
  "--inner",
  'Content-Type: text/plain; charset="UTF-8"',
  "",
  "See here.",
  "--inner",
  'Content-Type: text/html; charset="UTF-8"',
  "",
  "<p>See here.</p>",
  "--inner--",
  "--outer",
  'Content-Type: application/pdf; name="paper.pdf"',
  'Content-Disposition: attachment; filename="paper.pdf"',
  "Content-Transfer-Encoding: base64",
  "",
  FILE.toString("base64"),
  "--outer--",
  "",
);

export const REPLY = mail(
  "From: Ada <ada@example.org>",
  "To: agent@example.com",
  "Subject: Re: A question",
  "Date: Tue, 03 Feb 2026 12:10:00 GMT",
  "Message-ID: <m3@example.org>",
  "In-Reply-To: <m1@example.org>",
  "References: <m1@example.org>",
  "MIME-Version: 1.0",
  'Content-Type: text/plain; charset="UTF-8"',
  "",
  "And how long?",
);

export const ANSWER = mail(
  "From: agent@example.com",
  "To: ada@example.org",
  "Subject: Re: A question",
  "Date: Tue, 03 Feb 2026 12:15:00 GMT",
  "Message-ID: <m4@example.com>",
  "In-Reply-To: <m3@example.org>",
  "References: <m1@example.org> <m3@example.org>",
  "MIME-Version: 1.0",
  'Content-Type: text/plain; charset="UTF-8"',
  "",
  "A mile.",
);
