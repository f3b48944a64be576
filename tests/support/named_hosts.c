/* Names below example.com lead to this machine, whatever DNS says: for clients that resolve names by the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

static const char DOMAIN[] = ".example.com";

static int is_ours(const char *name)
{
    size_t length = strlen(name), tail = sizeof DOMAIN - 1;
    return length > tail && strcmp(name + length - tail, DOMAIN) == 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name && is_ours(name) ? "127.0.0.1" : name, service, hints, found);
}
