/** An SMTP server on loopback that takes mail from who signs in, and refuses what breaks RFC 5322. With moods. */
import type { AddressInfo, Socket } from "node:net";
import { mailOf, type SentMail } from "../../mailpush/outgoing.ts";
import { reset } from "./lines.ts";
import type { MailMood, MailMoods } from "./mail-mood.ts";

export type SentByMail = Omit<SentMail, "messageId" | "threadId"> & {
  /** Of the envelope, which alone says who gets it. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  /** The HTML part; blank without one. */
  readonly html: string;
  readonly raw: Buffer;
};

export interface FakeSmtp {
  readonly port: number;
  readonly sent: readonly SentByMail[];
  /** Rules that mails broke, which were refused for that. */
  readonly broken: readonly string[];
  close(): Promise<void>;
}

export interface SmtpOptions {
  readonly maxBytes: number;
  mayEnter(login: { readonly user: string; readonly password?: string; readonly token?: string }): boolean;
  /** Nobody of these is known here. */
  readonly unknown: ReadonlySet<string>;
}

const refusal = (responseCode: number, text: string): Error => Object.assign(new Error(text), { responseCode });

export async function startSmtpServer(options: SmtpOptions, moods: MailMoods): Promise<FakeSmtp> {
  const sent: SentByMail[] = [];
  const broken: string[] = [];
  const sockets = new Map<number, Socket>();
  const resetPort = (port: number): void => {
    const socket = sockets.get(port);
    if (socket !== undefined) reset(socket);
  };

  const { SMTPServer } = await import("smtp-server");
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    authMethods: ["PLAIN", "LOGIN", "XOAUTH2"],
    size: options.maxBytes,
    closeTimeout: 1,
    onConnect({ remotePort }, done) {
      void moods.of({ protocol: "smtp", line: "" }).then((mood) => {
        if (mood === "hangs") return;
        if (mood === "resets") return resetPort(remotePort);
        if (typeof mood === "object" && "babbles" in mood)
          return void sockets.get(remotePort)?.end(`${mood.babbles}\r\n`);
        if (isDown(mood)) return done(refusal(421, "4.3.2 Out of order"));
        done();
      });
    },
    onAuth({ username: user = "", password, accessToken }, _session, done) {
      const login = {
        user,
        ...(password != null && { password }),
        ...(accessToken !== undefined && { token: accessToken }),
      };
      void moods.of({ protocol: "smtp", line: `AUTH ${user} ${password ?? accessToken ?? ""}` }).then((mood) => {
        if (mood === "hangs") return;
        const isRefused = typeof mood === "object" && "refuses" in mood && mood.refuses === 401;
        if (!isRefused && options.mayEnter(login)) return done(null, { user });
        // As some servers do, with all that was said.
        return done(refusal(535, `5.7.8 Bad credentials: ${user} ${password ?? ""} ${accessToken ?? ""}`));
      });
    },
    onRcptTo({ address }, { remotePort }, done) {
      void moods.of({ protocol: "smtp", line: `RCPT TO:<${address}>` }).then((mood) => {
        if (mood === "hangs") return;
        if (mood === "resets") return resetPort(remotePort);
        if (typeof mood === "object" && "rateLimits" in mood) {
          return done(refusal(450, `4.7.1 Too many mails; try again in ${mood.rateLimits} seconds`));
        }
        if (isDown(mood)) return done(refusal(451, "4.3.0 Out of order"));
        if (typeof mood === "object" && "refuses" in mood) return done(refusal(550, `5.1.1 Refused: ${address}`));
        if (options.unknown.has(address)) return done(refusal(550, "5.1.1 User unknown"));
        done();
      });
    },
    onData(stream, { envelope, remotePort }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks);
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        const taken = async (): Promise<void> => {
          const mood = await moods.of({ protocol: "smtp", line: "DATA", body: raw });
          const mail = await mailOf(raw);
          if (mail.from !== from || mail.to.join() !== to.join())
            throw new Error("broken: it is from and to whom it says");
          sent.push({ ...mail, html: await htmlOf(raw), raw, envelope: { from, to } });
          if (mood === "loses answers") return resetPort(remotePort);
          if (mood !== "hangs") done();
        };
        taken().catch((error: unknown) => {
          broken.push(String(error));
          done(refusal(554, "5.6.0 This is no mail"));
        });
      });
    },
  });
  server.on("error", () => undefined);
  server.server.prependListener("connection", (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    sockets.set(port, socket);
    socket.on("close", () => sockets.delete(port)).on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    sent,
    broken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const port of sockets.keys()) resetPort(port);
      }),
  };
}

const isDown = (mood: MailMood): boolean => typeof mood === "object" && "refuses" in mood && mood.refuses >= 500;

async function htmlOf(raw: Buffer): Promise<string> {
  const { default: PostalMime } = await import("postal-mime");
  return (await PostalMime.parse(raw)).html ?? "";
}
