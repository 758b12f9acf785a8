#ifndef WEIR_BASE_LIST_H
#define WEIR_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* An intrusive, circular, doubly linked list. A link outside any list points
 * to itself, so removing it twice is harmless. */
struct list {
	struct list *next, *prev;
};

#define LIST_ITEM(link, type, member) \
	((type *)(void *)((char *)(link) - offsetof(type, member)))

static inline void
list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool
list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void
list_insert_after(struct list *pos, struct list *item)
{
	item->prev = pos;
	item->next = pos->next;
	pos->next->prev = item;
	pos->next = item;
}

static inline void
list_push_front(struct list *head, struct list *item)
{
	list_insert_after(head, item);
}

static inline void
list_push_back(struct list *head, struct list *item)
{
	list_insert_after(head->prev, item);
}

static inline void
list_remove(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

static inline struct list *
list_first(const struct list *head)
{
	return list_empty(head) ? NULL : head->next;
}

static inline struct list *
list_last(const struct list *head)
{
	return list_empty(head) ? NULL : head->prev;
}

#define LIST_EACH(pos, head) \
	for (struct list *pos = (head)->next; pos != (head); pos = pos->next)
/* Allows pos to be removed in the body. */
#define LIST_EACH_SAFE(pos, head) \
	for (struct list *pos = (head)->next, *pos##_next = pos->next; \
	    pos != (head); pos = pos##_next, pos##_next = pos->next)

#endif
