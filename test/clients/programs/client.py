"""A client of MCP from a Python library, driven by lines of JSON on stdin and stdout.

It is told how to connect (the first line), then what to do; it says what the library handed to its caller, and passes
on every question that the library asks its user.

    {"library": "mcp" | "fastmcp" | "fastmcp-tasks", "era": "modern" | "legacy", "forms": true,
     "url": …, "headers": {…} | "command": …, "args": […]}
    {"id": 1, "do": "call", "tool": …, "arguments": {…}, "asTask": true}    → {"id": 1, "shown": {"how": …, "text": …}}
    {"id": 2, "do": "cancelTask"}                                           → {"id": 2, "shown": null}
    {"question": 7, "params": {…}} → answered by {"answer": 7, "result": {"action": …, "content": …}}
"""

import asyncio
import json
import sys

out = sys.stdout
sys.stdout = sys.stderr
questions: dict[int, asyncio.Future] = {}


def say(message: dict) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


async def ask(params) -> dict:
    number = len(questions) + 1
    questions[number] = asyncio.get_running_loop().create_future()
    say({"question": number, "params": params.model_dump(by_alias=True, mode="json", exclude_none=True)})
    return await questions[number]


def shown(result) -> dict:
    """What a caller of the library sees: the text, and whether the library marks it as an error."""
    text = "\n".join(block.text for block in result.content if block.type == "text")
    return {"how": "an error result" if result.is_error else "a result", "text": text}


def raised(error: BaseException) -> dict:
    return {"how": f"`{type(error).__name__}` is raised", "text": str(error)}


class Mcp:
    """`mcp.Client`."""

    def __init__(self, told: dict):
        from mcp import Client, StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client
        from mcp_types import ElicitResult

        async def elicit(_context, params):
            return ElicitResult(**await ask(params))

        if "url" in told:
            server = streamable_http_client(
                told["url"], http_client=create_mcp_http_client(headers=told["headers"])
            )
        else:
            server = StdioServerParameters(command=told["command"], args=told["args"])
        self.client = Client(
            server,
            mode="legacy" if told["era"] == "legacy" else "auto",
            elicitation_callback=elicit if told["forms"] else None,
        )

    async def call(self, tool: str, arguments: dict, _as_task: bool) -> dict:
        return shown(await self.client.call_tool(tool, arguments))


class FastMcp:
    """`fastmcp.Client`; with `fastmcp_tasks` imported it takes tasks."""

    def __init__(self, told: dict):
        from fastmcp import Client
        from fastmcp.client.elicitation import ElicitResult
        from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

        if told["library"] == "fastmcp-tasks":
            import fastmcp_tasks  # noqa: F401

        async def elicit(_message, _response_type, params, _context):
            return ElicitResult(**await ask(params))

        if "url" in told:
            server = StreamableHttpTransport(told["url"], headers=told["headers"])
        else:
            server = StdioTransport(told["command"], told["args"])
        self.task = asyncio.get_running_loop().create_future()
        self.client = Client(
            server,
            mode="legacy" if told["era"] == "legacy" else "auto",
            elicitation_handler=elicit if told["forms"] else None,
        )

    async def call(self, tool: str, arguments: dict, as_task: bool) -> dict:
        if not as_task:
            return shown(await self.client.call_tool(tool, arguments))
        from fastmcp_tasks import call_tool_task

        task = await call_tool_task(self.client, tool, arguments)
        self.task.set_result(task)
        return shown(await task.result())

    async def cancel_task(self) -> None:
        await (await self.task).cancel()


async def carry_out(driver, told: dict) -> None:
    try:
        if told["do"] == "cancelTask":
            await driver.cancel_task()
            answer = None
        else:
            answer = await driver.call(told["tool"], told["arguments"], told["asTask"])
    except Exception as error:
        answer = raised(error)
    say({"id": told["id"], "shown": answer})


async def main() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    told = json.loads(await reader.readline())
    driver = Mcp(told) if told["library"] == "mcp" else FastMcp(told)
    under_way = set()
    async with driver.client:
        say({"ready": True})
        while line := await reader.readline():
            told = json.loads(line)
            if "answer" in told:
                questions[told["answer"]].set_result(told["result"])
                continue
            under_way.add(asyncio.create_task(carry_out(driver, told)))


asyncio.run(main())
