/** What the dashboard does with a new callback URL: it requests the echo of a challenge. */
export async function verifyCallback(url: string, verifyToken: string): Promise<"verified" | number> {
  const challenge = "1158201444";
  const query = new URLSearchParams({
    "hub.mode": "subscribe",
    "hub.challenge": challenge,
    "hub.verify_token": verifyToken,
  });
  const response = await fetch(`${url}?${query}`, { redirect: "manual" });
  const isEcho = response.status === 200 && (await response.text()) === challenge;
  return isEcho ? "verified" : response.status;
}
