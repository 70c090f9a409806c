"""Side queries: short questions to a model beside the conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wayfare.errors import ModelError
from wayfare.memory import SideQuery
from wayfare.messages import user
from wayfare.model import Model, Request, Usage

Spent = Callable[[Usage, Model], None]


class ModelSideQuery:
    """Asks the first model that answers.

    Args:
        models: The one for side queries, then whoever stands in for it.
        spent: Told what each answer used.
    """

    def __init__(self, models: Callable[[], Sequence[Model]], spent: Spent) -> None:
        self._models = models
        self._spent = spent

    async def __call__(
        self, system: str, prompt: str, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> str:
        """The text of the answer.

        Raises:
            ModelError: none of the models answered; the last one's error.
        """
        failed: ModelError | None = None
        for model in self._models():
            request = Request(
                messages=(user(prompt),),
                system=system,
                schema=schema,
                max_output_tokens=min(max_tokens, model.max_output_tokens),
            )
            try:
                reply = await model.complete(request)
            except ModelError as error:
                failed = error
                continue
            self._spent(reply.usage, model)
            return reply.message.text
        raise failed or ModelError("no model is set for side queries")


if TYPE_CHECKING:
    _query: type[SideQuery] = ModelSideQuery
