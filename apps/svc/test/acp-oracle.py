# An agent on the Python implementation of the Agent Client Protocol (PyPI: agent-client-protocol), which is not the library that svc uses.
import asyncio
import sys

from acp import (
    PROTOCOL_VERSION,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    update_agent_message_text,
)
from acp.schema import PermissionOption, ToolCallUpdate


class Oracle:
    def on_connect(self, conn):
        self.conn = conn
        self.cancelled = asyncio.Event()

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **kwargs):
        assert protocol_version == PROTOCOL_VERSION
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd, mcp_servers=None, **kwargs):
        assert cwd.startswith("/")
        return NewSessionResponse(session_id="oracle")

    async def prompt(self, prompt, session_id, **kwargs):
        text = prompt[0].text
        if text == "wait":
            await self.cancelled.wait()
            self.cancelled.clear()
            return PromptResponse(stop_reason="cancelled")
        if text == "ask":
            answer = await self.conn.request_permission(
                session_id=session_id,
                tool_call=ToolCallUpdate(tool_call_id="call-1", title="write a file"),
                options=[
                    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
                    PermissionOption(option_id="no", name="No", kind="reject_once"),
                ],
            )
            text = answer.outcome.option_id
        await self.conn.session_update(session_id, update_agent_message_text("oracle: "))
        await self.conn.session_update(session_id, update_agent_message_text(text))
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id, **kwargs):
        self.cancelled.set()


if sys.argv[1:] == ["--check"]:
    sys.exit(0)
asyncio.run(run_agent(Oracle()))
