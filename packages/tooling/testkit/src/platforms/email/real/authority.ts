/** A certificate authority of a test, as people who run their own servers have one. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TestAuthority {
  /** PEM files. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Made below `folder`, with a certificate for `localhost` and `127.0.0.1`. Needs the `openssl` program. */
export function createAuthority(folder: string): TestAuthority {
  const path = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-days", "30", "-subj", "/CN=A test authority", ...out("ca"));
  openssl("req", "-new", ...key, "-subj", "/CN=localhost", ...out("server", "csr"));
  writeFileSync(path("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const signed = ["-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial", "-extfile", path("names")];
  openssl("x509", "-req", "-days", "30", "-in", path("server.csr"), ...signed, "-out", path("server.pem"));
  return { caFile: path("ca.pem"), certFile: path("server.pem"), keyFile: path("server.key") };

  function out(name: string, extension = "pem"): string[] {
    return ["-keyout", path(`${name}.key`), "-out", path(`${name}.${extension}`)];
  }
}
