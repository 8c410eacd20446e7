"""A person and, with --serve, a relay, both of the Rust implementation (nostr-sdk): commands come as JSON lines on standard input, one answer each."""

import asyncio
import json
import sys
import time
from datetime import timedelta

from nostr_sdk import (
    ClientBuilder,
    EventBuilder,
    Filter,
    Keys,
    LocalRelayBuilder,
    LocalRelayBuilderNip42,
    LocalRelayBuilderNip42Mode,
    PublicKey,
    RelayUrl,
    ReqTarget,
    SignerAuthenticator,
    UnsignedEvent,
    UnwrappedGift,
    nip17_make_private_msg,
    uniffi_set_event_loop,
)


def legacy(keys, to, text):
    unsigned = {
        "pubkey": keys.public_key().to_hex(),
        "kind": 4,
        "created_at": int(time.time()),
        "tags": [["p", to.to_hex()]],
        "content": keys.nip04_encrypt(to, text),
    }
    return UnsignedEvent.from_json(json.dumps(unsigned)).sign(keys)


def read(keys, event):
    if event.kind().as_u16() == 4:
        if not event.verify():
            raise ValueError("its signature is wrong")
        text = keys.nip04_decrypt(event.author(), event.content())
        return {"protocol": "legacy", "from": event.author().to_hex(), "text": text, "id": event.id().to_hex()}
    gift = UnwrappedGift.from_gift_wrap(keys, event)
    rumor = gift.rumor()
    if rumor.author().to_hex() != gift.sender().to_hex():
        raise ValueError("its seal is of another author")
    return {
        "protocol": "wrapped",
        "from": gift.sender().to_hex(),
        "text": rumor.content(),
        "id": rumor.ensure_id().id().to_hex(),
        "kind": rumor.kind().as_u16(),
    }


async def main():
    # The library calls back from threads of its own.
    uniffi_set_event_loop(asyncio.get_running_loop())
    relay = None
    if sys.argv[1] == "--serve":
        relay = LocalRelayBuilder().addr("127.0.0.1").nip42(LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode.BOTH)).build()
        await relay.run()
        url = await relay.url()
    else:
        url = RelayUrl.parse(sys.argv[1])
    keys = Keys.generate()
    client = ClientBuilder().authenticator(SignerAuthenticator(keys)).build()
    await client.add_relay(url)
    await client.connect()
    answer({"relay": str(url), "pubkey": keys.public_key().to_hex()})
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        command = json.loads(line)
        if command["do"] == "write":
            to = PublicKey.parse(command["to"])
            make = legacy if command["protocol"] == "legacy" else nip17_make_private_msg
            event = make(keys, to, command["text"])
            output = await client.send_event(event)
            answer({"sent": event.id().to_hex(), "output": str(output)})
        else:
            query = json.dumps({"kinds": [4, 1059], "#p": [keys.public_key().to_hex()]})
            events = await client.fetch_events(ReqTarget.auto([Filter.from_json(query)]), timedelta(seconds=10))
            answer({"read": [read(keys, event) for event in events]})


def answer(value):
    print(json.dumps(value), flush=True)


asyncio.run(main())
