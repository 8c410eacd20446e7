"""A person with matrix-nio: commands come as JSON lines on standard input, answers and events go out as JSON lines."""

import asyncio
import json
import sys

from nio import (
    AsyncClient,
    AsyncClientConfig,
    EnableEncryptionBuilder,
    KeyVerificationCancel,
    KeyVerificationEvent,
    KeyVerificationKey,
    LoginResponse,
    MegolmEvent,
    RoomEncryptedMedia,
    RoomMessage,
    RoomMessageMedia,
    RoomMessageText,
)
from nio.crypto.attachments import decrypt_attachment, encrypt_attachment


def say(**fields):
    print(json.dumps(fields), flush=True)


async def main():
    homeserver, user, password, store = sys.argv[1:5]
    config = AsyncClientConfig(encryption_enabled=True, store_sync_tokens=True)
    client = AsyncClient(homeserver, user, store_path=store, config=config)
    answer = await client.login(password, device_name="person")
    if not isinstance(answer, LoginResponse):
        raise SystemExit(str(answer))

    def heard(room, event):
        content = event.source.get("content", {})
        new = content.get("m.new_content", {})
        say(
            event="message",
            room=room.room_id,
            sender=event.sender,
            id=event.event_id,
            body=new.get("body", getattr(event, "body", "")),
            replaces=content.get("m.relates_to", {}).get("event_id") if new else None,
            encrypted=getattr(event, "decrypted", False),
            sender_key=getattr(event, "sender_key", None),
            msgtype=content.get("msgtype"),
            relation=content.get("m.relates_to"),
        )

    def undecryptable(room, event):
        say(event="undecryptable", room=room.room_id, sender=event.sender, id=event.event_id)

    async def media(room, event):
        file = event.source["content"]["file"]
        download = await client.download(file["url"])
        plain = decrypt_attachment(download.body, file["key"]["k"], file["hashes"]["sha256"], file["iv"])
        say(event="file", room=room.room_id, sender=event.sender, body=event.body, hex=plain.hex())

    async def verification(event):
        if isinstance(event, KeyVerificationKey):
            sas = client.key_verifications[event.transaction_id]
            say(event="symbols", transaction=event.transaction_id, symbols=[symbol for symbol, _ in sas.get_emoji()])
        elif isinstance(event, KeyVerificationCancel):
            say(event="cancelled", transaction=event.transaction_id, code=event.code)

    client.add_to_device_callback(verification, (KeyVerificationEvent,))
    client.add_event_callback(heard, RoomMessageText)
    client.add_event_callback(undecryptable, MegolmEvent)
    client.add_event_callback(media, RoomEncryptedMedia)
    await client.sync(timeout=0, full_state=True)
    say(event="ready", user=client.user_id, device=client.device_id)

    async def serve():
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            command = json.loads(line)
            try:
                say(id=command["id"], **(await do(command)))
            except Exception as error:  # noqa: BLE001 - told to the test
                say(id=command["id"], error=repr(error))

    async def do(command):
        kind = command["do"]
        if kind == "create":
            state = [EnableEncryptionBuilder().as_dict()] if command.get("encrypted") else []
            made = await client.room_create(invite=command["invite"], initial_state=state)
            return {"room": made.room_id}
        if kind == "invite":
            await client.room_invite(command["room"], command["user"])
            return {}
        if kind == "encrypt":
            await client.room_put_state(command["room"], "m.room.encryption", EnableEncryptionBuilder().as_dict()["content"])
            return {}
        if kind == "send":
            content = {"msgtype": "m.text", "body": command["text"], **command.get("more", {})}
            sent = await client.room_send(command["room"], "m.room.message", content, ignore_unverified_devices=True)
            return {"event_id": sent.event_id}
        if kind == "file":
            sealed, keys = encrypt_attachment(bytes.fromhex(command["hex"]))
            import io

            up, _ = await client.upload(lambda *_: io.BytesIO(sealed), content_type="application/octet-stream", filesize=len(sealed))
            content = {"msgtype": "m.image", "body": "a.png", "info": {"mimetype": "image/png"}, "file": {**keys, "url": up.content_uri}}
            sent = await client.room_send(command["room"], "m.room.message", content, ignore_unverified_devices=True)
            return {"event_id": sent.event_id}
        if kind == "devices":
            return {"devices": [device.id for device in client.device_store.active_user_devices(command["user"])]}
        if kind == "verify":
            device = client.device_store[command["user"]][command["device"]]
            started = await client.start_key_verification(device)
            if not hasattr(started, "to_device_message"):
                raise ValueError(str(started))
            return {"transaction": started.to_device_message.content["transaction_id"]}
        if kind == "match":
            await client.confirm_short_auth_string(command["transaction"])
            return {}
        if kind == "differ":
            await client.cancel_key_verification(command["transaction"], reject=True)
            return {}
        if kind == "verified":
            device = client.device_store[command["user"]][command["device"]]
            return {"verified": client.olm.is_device_verified(device)}
        if kind == "redact":
            await client.room_redact(command["room"], command["event"])
            return {}
        if kind == "encrypted":
            return {"encrypted": client.rooms[command["room"]].encrypted}
        if kind == "members":
            return {"members": list(client.rooms[command["room"]].users)}
        raise ValueError(kind)

    # Synapse sends ten events of a room by default, and this client asks for no gap: an outage may be longer than that.
    everything = {"room": {"timeline": {"limit": 1_000}}}
    await asyncio.gather(client.sync_forever(timeout=5_000, sync_filter=everything), serve())


asyncio.run(main())
