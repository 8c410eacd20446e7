// The guarded client against servers that try to lead it to a private address, or to learn credentials meant for somebody
// else.
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { client, closeServers, listen, servers, text } from "./loopback.ts";

afterEach(closeServers);

describe("addresses", () => {
  test("loopback is refused, and the server never sees a connection", async () => {
    let connections = 0;
    const host = await listen((_, response) => response.end("secret"));
    servers[0]?.on("connection", () => (connections += 1));
    await expect(client([])(`http://${host}/`)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(connections).toBe(0);
  });

  test.each([
    "http://localhost/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://169.254.169.254/latest/meta-data/",
  ])("%s is refused", async (url) => {
    await expect(client([])(url)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });

  test("allow_private opens exactly its host:port", async () => {
    const host = await listen((_, response) => response.end("ok"));
    const port = host.split(":")[1] as string;
    expect(text((await client([host])(`http://${host}/`)).bytes)).toBe("ok");
    await expect(client([host])(`http://localhost:${port}/`)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    await expect(client([`127.0.0.1:${Number(port) - 1}`])(`http://${host}/`)).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
  });

  test("an api_url is exempt with its scheme only", async () => {
    const host = await listen((_, response) => response.end("ok"));
    expect((await client([], { exempt: [`http://${host}/v3`] })(`http://${host}/x`)).status).toBe(200);
    await expect(client([], { exempt: [`https://${host}`] })(`http://${host}/`)).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
  });

  test.each(["nonsense", "http://127.0.0.1:80", "127.0.0.1:0", "127.0.0.1:99999", "a b:80", "*:80/x"])(
    "allow_private = [%j] stops the start",
    (entry) => expect(() => client([entry])).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" })),
  );

  test("one private answer among public ones refuses the name", async () => {
    const lookup = async () => ["93.184.216.34", "10.0.0.7"];
    await expect(client([], { lookup })("http://mixed.test/")).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });

  test("a name is resolved once for a connection: a second answer (DNS rebinding) is never asked for", async () => {
    const host = await listen((_, response) => response.end("first address"));
    const port = host.split(":")[1] as string;
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    let asked = 0;
    const lookup = async () => answers[asked++] ?? [];
    const result = await client([`rebind.test:${port}`], { lookup })(`http://rebind.test:${port}/`);
    expect([text(result.bytes), asked]).toEqual(["first address", 1]);
  });

  test("a name without addresses, and one that does not resolve", async () => {
    await expect(client([], { lookup: async () => [] })("http://none.test/")).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
    const failing = async () => Promise.reject(new Error("ENOTFOUND"));
    await expect(client([], { lookup: failing })("http://none.test/")).rejects.toMatchObject({
      code: "REMOTE_UNREACHABLE",
    });
  });

  test("the next address is tried when the first does not answer", async () => {
    const host = await listen((_, response) => response.end("second"));
    const port = host.split(":")[1] as string;
    const lookup = async () => ["127.0.0.9", "127.0.0.1"];
    expect(text((await client([`two.test:${port}`], { lookup })(`http://two.test:${port}/`)).bytes)).toBe("second");
  });

  test("TLS asks for the name in the URL although it connects to an address", async () => {
    const hello = Promise.withResolvers<string>();
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (data) => {
        hello.resolve(data.toString("latin1"));
        socket.destroy();
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const key = `tls-name.test:${(server.address() as AddressInfo).port}`;
    const fetching = client([key], { lookup: async () => ["127.0.0.1"] })(`https://${key}/`);
    await expect(fetching).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
    expect(await hello.promise).toContain("tls-name.test");
  });

  test("the Host header is the URL's, and the caller can't set another", async () => {
    const host = await listen((request, response) => response.end(request.headers.host));
    expect(text((await client([host])(`http://${host}/`)).bytes)).toBe(host);
    for (const name of ["Host", "Transfer-Encoding", "content-length", "Connection", "Proxy-Authorization"]) {
      await expect(client([host])(`http://${host}/`, { headers: { [name]: "x" } })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    }
    await expect(client([host])(`http://${host}/`, { headers: { "x-a": "1\r\nHost: evil" } })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
  });
});

describe("redirects", () => {
  test("to a private address is refused", async () => {
    let reached = false;
    const inner = await listen((_, response) => {
      reached = true;
      response.end();
    });
    const outer = await listen((_, response) => response.writeHead(302, { location: `http://${inner}/` }).end());
    await expect(client([outer])(`http://${outer}/`)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(reached).toBe(false);
  });

  test.each(["file:///etc/passwd", "http://0x7f.1/", "http://a:b@example.test/", "gopher://x/"])(
    "to %s is refused",
    async (location) => {
      const host = await listen((_, response) => response.writeHead(302, { location }).end());
      await expect(client([host])(`http://${host}/`)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    },
  );

  test("credentials stay with their origin, whatever the header's name", async () => {
    const other = await listen((request, response) => response.end(JSON.stringify(request.headers)));
    const host = await listen((request, response) =>
      response.writeHead(302, { location: request.url === "/away" ? `http://${other}/` : "/away" }).end(),
    );
    const headers = { Authorization: "Bearer a", Cookie: "b=c", "X-Api-Key": "d", Accept: "text/plain" };
    const seen = JSON.parse(text((await client([host, other])(`http://${host}/start`, { headers })).bytes));
    expect(seen).toMatchObject({ accept: "text/plain" });
    expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(["authorization"]));
    expect([seen.authorization, seen.cookie, seen["x-api-key"]]).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [303, "HEAD", "HEAD", ""],
    [302, "PUT", "PUT", "body"],
    [307, "POST", "POST", "body"],
    [308, "POST", "POST", "body"],
  ] as const)("%i turns %s into %s", async (status, method, expected, body) => {
    let seen = "";
    const host = await listen((request, response) => {
      if (request.url === "/") return response.writeHead(status, { location: "/next" }).end();
      seen = `${request.method} `;
      request.on("data", (chunk) => (seen += chunk));
      return request.on("end", () => response.end());
    });
    await client([host])(`http://${host}/`, { method, ...(method !== "HEAD" && { body: "body" }) });
    expect(seen).toBe(`${expected} ${body}`);
  });

  test("five are followed, the sixth is not", async () => {
    const host = await listen((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("there");
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const result = await client([host])(`http://${host}/5`);
    expect([text(result.bytes), result.url]).toEqual(["there", `http://${host}/0`]);
    await expect(client([host])(`http://${host}/6`)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });
});

test("requests carry method, headers and body, and repeated response headers are joined", async () => {
  const host = await listen((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      response.setHeader("X-Twice", ["a", "b"]);
      response.writeHead(201).end(`${request.method} ${request.headers["x-a"]} ${body}`);
    });
  });
  const result = await client([host])(`http://${host}/`, { body: "händel", headers: { "X-A": "1" } });
  expect([result.status, text(result.bytes), result.headers["x-twice"]]).toEqual([201, "POST 1 händel", "a, b"]);
});

test("a refused connection is REMOTE_UNREACHABLE", async () => {
  const host = await listen(() => undefined);
  await new Promise((resolve) => servers.splice(0)[0]?.close(resolve));
  await expect(client([host])(`http://${host}/`)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
});
